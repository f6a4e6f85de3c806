-- G25 Jacobian of an arbitrary function term
-- check
-- => ok : R
-- run: fast, reference, translation
-- => 12
(J (\x:R. x^3) · 1) 2
