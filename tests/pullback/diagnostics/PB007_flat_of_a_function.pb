-- check
flat (\x:R. x)  -- error[PB007]: Euclidean
