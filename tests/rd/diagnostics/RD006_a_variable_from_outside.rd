-- A variable from outside.
-- check
let a = 2 in
let f(x:real):real = a * x in  -- error[RD006]: free variable
f(3)
