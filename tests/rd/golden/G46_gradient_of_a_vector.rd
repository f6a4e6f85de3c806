-- G46 of the specification: gradient of a vector.
-- check
grad[1](x. (x, x))  -- error[RD012]
