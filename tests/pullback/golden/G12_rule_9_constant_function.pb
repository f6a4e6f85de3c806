-- G12 rule 9: constant function
-- check
-- => ok : R^*
-- run: fast, reference, translation
-- => [0]^*
((Ω λx:R. 5) · Ω [1]) 2
