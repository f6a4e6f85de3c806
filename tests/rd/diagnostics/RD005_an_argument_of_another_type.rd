-- An argument of another type.
-- check
let f(x:real, y:real):real = x * y in
f(1, (2, 3))  -- error[RD005]: expected real * real
