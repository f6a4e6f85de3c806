-- Branches of two types.
-- check
if 1 < 2 then 1
else (1, 2)  -- error[RD005]: type mismatch
