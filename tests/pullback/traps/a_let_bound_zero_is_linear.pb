-- run: fast, reference, translation
-- => [0, 3]^*
(λv:R^2. let z = zero in <z, z, snd v>)^* · [1, 2, 3]^*
