-- Second derivatives: the Jacobian of a gradient is the Hessian, which is symmetric.
-- run: fast, reference, translation
def f = \<x, y>:R^2. x^3 * y + y^2;

jacobian (\p. grad f at p) at <1, 2>
