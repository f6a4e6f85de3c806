-- check
prim f(x) = exp(x, x);  -- error[PB010]: expects
f 1
