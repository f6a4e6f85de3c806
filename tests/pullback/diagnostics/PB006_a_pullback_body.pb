-- check
(λv:R. ((Ω λx:R. x * v) · Ω [1]) 2)^* · (zero : R^*^*)  -- error[PB006]: not linear
