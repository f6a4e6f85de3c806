-- A numeral too large.
-- check
1e999  -- error[RD011]: out of range
