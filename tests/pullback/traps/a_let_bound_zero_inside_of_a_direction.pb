-- run: fast, reference, translation
-- => [0]^*
(λv:R. (J (\f:R -> R. f 2) · (\x:R. let z = (zero : R^*) in z @ x)) (\x. x * x))^* · [3]^*
