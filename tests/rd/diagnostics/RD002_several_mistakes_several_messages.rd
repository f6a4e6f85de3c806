-- Several mistakes several messages.
-- check
let a = 1 + in  -- error[RD002]: expected a term
let b = 2 * * 3) in  -- error[RD002]
let c = zz in  -- error[RD003]: unbound variable
a + b + c
