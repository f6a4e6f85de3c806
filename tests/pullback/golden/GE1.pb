-- GE1
-- check
-- error[PB006] at line 4: not linear
(λv:R. v * v)^* · [1]^*
