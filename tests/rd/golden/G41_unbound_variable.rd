-- G41 of the specification: unbound variable.
-- check
let x = 1 in x + yy  -- error[RD003]
