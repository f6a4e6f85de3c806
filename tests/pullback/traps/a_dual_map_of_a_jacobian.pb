-- `J v · t` is linear in the function, so it has a dual.
-- run: fast, reference, translation
-- => 12
((λf:R -> R. (J f · 1) 2)^* · [1]^*) @ (\x. x^3)
