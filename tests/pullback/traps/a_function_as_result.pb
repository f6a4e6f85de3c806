-- run: fast, reference, translation
-- => [5]^*
((Ω λx:R. \y:R. x * y) · (\g:R -> R. (λu:R -> R. u 5)^* · [1]^*)) 3
