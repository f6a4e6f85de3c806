-- A number as a condition.
-- check
if 1 then 2 else 3  -- error[RD010]: boolean
