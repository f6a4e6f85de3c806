-- G28 row of a product type
-- check
-- => ok : (R^2 * R^2)^*
-- run: fast, reference, translation
-- => [4, 0, <0, 1>]^*
((Ω λp:R^2 * R^2. (fst (fst p)) * (snd (snd p))) · Ω [1]) <<1,2>,<3,4>>
