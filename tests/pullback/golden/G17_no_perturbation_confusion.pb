-- G17 no perturbation confusion
-- check
-- => ok : R
-- run: fast, reference, translation
-- => 1
def d (f : R -> R) = \y. sharp (((Ω f) · Ω [1]) y);
d (\x. x * d (\y. x + y) 1) 1
