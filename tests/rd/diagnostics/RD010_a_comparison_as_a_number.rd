-- A comparison as a number.
-- check
let b = 1 < 2 in b  -- error[RD010]: boolean
