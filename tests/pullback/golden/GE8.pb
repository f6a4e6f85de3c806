-- GE8
-- check
-- error[PB008] at line 4: duplicate
prim f(x, x) = x; f(1,2)
