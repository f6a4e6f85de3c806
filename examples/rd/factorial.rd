-- Recursion and its derivative.
--
-- Differentiating a recursive function needs nothing special: the trace contains the calls that
-- happen at the point, 5 · 4 · 3 · 2 · 1 · 1, and that product is differentiated.
--
-- The counter is compared with a half. At the whole number itself `<` would be undefined.
--
-- Paper: section 2, recursive definitions; section 3, how calls are traced.
-- Try: `n < 1` in place of `n < 0.5`; `--approx 5` and `--approx 6` (see square-root.rd).
-- run: tape, reference, transform

letrec factorial(n:real):real = if n < 0.5 then 1 else n * factorial(n - 1) in
(factorial(5), grad[5](factorial))
