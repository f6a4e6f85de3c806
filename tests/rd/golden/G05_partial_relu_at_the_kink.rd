-- G05 of the specification: partial ReLU, at the kink.
-- run: tape, reference, transform
-- => undefined: lt at (0, 0)
let f(x:real):real = if x < 0 then 0 else x in 1 + f(0)
