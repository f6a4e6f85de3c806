-- check
(λv:R^2. <fst v, 1>)^* · [1, 1]^*  -- error[PB006]: not linear
