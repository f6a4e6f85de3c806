-- The variable of a derivative.
-- check
grad[1](x. let f(y:real):real = x * y in f(x))  -- error[RD006]: free variable
