-- A parameter twice.
-- check
let f(x:real, x:real):real = x in f(1, 2)  -- error[RD008]: duplicate name
