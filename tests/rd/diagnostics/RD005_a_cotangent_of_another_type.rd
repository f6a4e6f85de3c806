-- A cotangent of another type.
-- check
(1, 2).rd[3](x:real. x * x)  -- error[RD005]: type mismatch
