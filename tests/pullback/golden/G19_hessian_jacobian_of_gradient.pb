-- G19 Hessian = Jacobian of gradient
-- check
-- => ok : (R^2)^* * (R^2)^*
-- run: fast, reference, translation
-- => <[10, 6]^*, [6, 0]^*>
def f = \<x,y>:R^2. x*x*y;
jacobian (\p. grad f at p) at <3,5>
