-- A result of another type.
-- check
let f(x:real):real * real =
  x * x in  -- error[RD005]: expected real * real, found real
f(2)
