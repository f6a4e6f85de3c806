-- A parameter without type.
-- check
let f(x) = x * x in  -- error[RD002]: expected `:`
f(3)
