-- G16 rule 17: second derivative by nested pullback
-- check
-- => ok : R^3
-- run: fast, reference, translation
-- => <12, 12, 6>
def d (f : R -> R) = \y. sharp (((Ω f) · Ω [1]) y);
<d (\x. x^3) 2, d (d (\x. x^3)) 2, d (d (d (\x. x^3))) 2>
