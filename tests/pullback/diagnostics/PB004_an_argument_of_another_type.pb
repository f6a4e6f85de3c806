-- check
(\x:R. x) <1, 2>  -- error[PB004]: mismatch
