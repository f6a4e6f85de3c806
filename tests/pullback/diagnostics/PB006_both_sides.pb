-- check
(λv:R -> R. let z = v 1 in v z)^* · [1]^*  -- error[PB006]: not linear
