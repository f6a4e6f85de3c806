-- The operand of a dual map is a sum of dual maps through function types: rule 6 needs each of them, and the map is linear in its operand.
-- run: fast, reference, translation
-- => [6, 17]^*
(λp:R^2. λx:R. (J mult · <fst p, snd p>) <x, 1>)^*
  · ((λf:R -> R. f 2)^* · [5]^* + (λf:R -> R. f 7)^* · [1]^* + zero)
