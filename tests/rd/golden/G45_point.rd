-- G45 of the specification: point.
-- check
1.rd[(1, 2)](x:real. x)  -- error[RD005]
