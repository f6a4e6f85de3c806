-- check
(λv:R. v * v)^* · [1]^*  -- error[PB006]: not linear
