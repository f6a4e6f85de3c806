-- check
(λv:R^2. (flat v) @ v)^* · [1]^*  -- error[PB006]: not linear
