-- A call without parentheses.
-- check
let f(x:real):real = x in
f 3  -- error[RD002]: expected an operator
