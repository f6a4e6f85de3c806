-- check
prim f(x) = let y = x in y;  -- error[PB009]: primitive
f 1
