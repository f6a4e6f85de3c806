-- Nested derivatives keep their variables apart: d/dx (x · d/dy (x + y)) is 1, not 2.
-- run: fast, reference, translation
def d (f : R -> R) = \y. sharp (((Ω f) · Ω [1]) y);

d (\x. x * d (\y. x + y) 1) 1
