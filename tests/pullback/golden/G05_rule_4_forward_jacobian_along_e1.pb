-- G05 rule 4: forward Jacobian along e1
-- check
-- => ok : R^2
-- run: fast, reference, translation
-- => <1, 2>
prim g(x, y) = <x + 1, 2*x + y^2>;
(J g · <1,0>) <1,3>
