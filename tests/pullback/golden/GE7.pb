-- GE7
-- check
-- error[PB007] at line 4: Euclidean
flat (\x:R. x)
