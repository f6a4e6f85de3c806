-- G50 of the specification: range.
-- check
1e999  -- error[RD011]
