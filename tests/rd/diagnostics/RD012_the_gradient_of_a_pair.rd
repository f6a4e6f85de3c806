-- The gradient of a pair.
-- check
grad[1](x. (x, x * x))  -- error[RD012]: `grad`
