-- G04 both rows of J(g)
-- check
-- => ok : (R^2)^* * (R^2)^*
-- run: fast, reference, translation
-- => <[1, 0]^*, [2, 6]^*>
prim g(x, y) = <x + 1, 2*x + y^2>;
jacobian g at <1,3>
