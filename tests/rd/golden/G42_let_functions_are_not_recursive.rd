-- G42 of the specification: let functions are not recursive.
-- check
let f(x:real):real = f(x - 1) * 2 in f(3)  -- error[RD004]
