-- G14 of the specification: reverse operations directly.
-- run: tape, reference, transform
-- => ((8, 6), 12)
((2).mul_r(3, 4), 1.powi_r[3](2))
