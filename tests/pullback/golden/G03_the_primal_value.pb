-- G03 the primal value
-- check
-- => ok : R
-- run: fast, reference, translation
-- => 484
prim g(x, y) = (x + 1, 2*x + y^2);
pow2 (mult (g (1, 3)))
