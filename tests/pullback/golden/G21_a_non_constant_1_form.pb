-- G21 a non-constant 1-form
-- check
-- => ok : R^*
-- run: fast, reference, translation
-- => [54]^*
((Ω λx:R. x^2) · (λy:R. y^*)) 3
