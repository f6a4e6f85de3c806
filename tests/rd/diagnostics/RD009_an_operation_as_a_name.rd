-- An operation as a name.
-- check
let exp = 3 in exp  -- error[RD009]: reserved
