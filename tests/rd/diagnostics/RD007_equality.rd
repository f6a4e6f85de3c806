-- Equality.
-- check
let x = 1 in if x == 0 then 0 else x  -- error[RD007]: not continuous
