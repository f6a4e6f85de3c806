-- check
def f = 1;
prim f(x) = x;  -- error[PB008]: duplicate
f
