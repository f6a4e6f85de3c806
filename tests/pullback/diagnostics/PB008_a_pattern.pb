-- check
\<x, x>:R^2. x  -- error[PB008]: duplicate
