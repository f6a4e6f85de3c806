-- GE15
-- check
-- error[PB006] at line 4: not linear
(λv:R^2. <fst v, 1>)^* · [1,1]^*
