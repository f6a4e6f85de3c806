-- A function is no value.
-- check
let f(x:real):real = x in
f + 1  -- error[RD003]: unbound variable
