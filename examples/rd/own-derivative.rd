-- A function that is defined through its own derivative.
--
-- Below 1 it is a parabola. Above 1 it is the derivative of itself, shifted to the right by one:
--
--     x < 1      x²
--     1 < x < 2  2 (x - 1), the derivative of the piece before
--     2 < x < 3  2
--     3 < x      0, but not at 4, 5, …
--
-- Paper: section 2, after forward mode: `f` may occur under `rd` in its own definition.
-- Try: the points 1, 2 and 3, where two pieces meet and the program is undefined. At 4, 5, … it is
-- undefined too: every step back compares with 1, and the last one compares 1 with 1.
-- run: tape, reference, transform

letrec f(x:real):real = if x < 1 then x * x else grad[x](y. f(y - 1)) in
((f(0.5), f(1.5), f(2.5), f(3.5)), grad[1.5](f))
