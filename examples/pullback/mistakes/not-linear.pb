-- A dual map of a function that is not linear.
-- check
(λv:R. let w = v in w * 2)^* · [1]^*  -- error[PB006]: not linear
