-- A condition in a sum.
-- check
if (1 < 2) + 1 < 3 then 1 else 2  -- error[RD010]: boolean
