-- G44 of the specification: branches.
-- check
if 1 < 2 then 1 else (1, 2)  -- error[RD005]
