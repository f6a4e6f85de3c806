-- The cotangent of a function that is differentiated twice, and together with a number.
-- run: fast, reference, translation
-- => <48, 12, 4, 13>
def d (f : R -> R) = \y. sharp (((Ω f) · Ω [1]) y);
def second = ((Ω λf:R -> R. d (d f) 2) · Ω [1]) (\x. x);
def both = ((Ω λp:R * (R -> R). d (snd p) (fst p)) · Ω [1]) <2, \x. x^3>;

<second @ (\x. x^4), both @ <1, zero>, both @ <0, \x. x^2>, both @ <1, \x. x>>
