-- G04 of the specification: partial ReLU, right.
-- run: tape, reference, transform
-- => (4, 1)
let f(x:real):real = if x < 0 then 0 else x in (f(4), grad[4](f))
