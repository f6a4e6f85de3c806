-- check
1e999  -- error[PB012]: parse
