-- GE10
-- check
-- error[PB008] at line 4: duplicate
\<x,x>:R^2. x
