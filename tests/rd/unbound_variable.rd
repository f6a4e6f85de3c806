-- check
-- run: tape, reference, transform
let x = 1 in x + yy  -- error[RD003]: unbound variable
