-- check
3 4  -- error[PB004]: mismatch
