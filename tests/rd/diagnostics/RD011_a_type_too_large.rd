-- A type too large.
-- check
zero[(real^2000)^2000]  -- error[RD011]: out of range
