-- check
grad (\f:R -> R. f 1) at (\x. x)  -- error[PB007]: Euclidean
