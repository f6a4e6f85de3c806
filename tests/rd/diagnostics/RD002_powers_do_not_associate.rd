-- Powers do not associate.
-- check
let x = 2 in x^2^3  -- error[RD002]
