-- G03 of the specification: paper, introduction: partial ReLU, left.
-- run: tape, reference, transform
-- => (0, 0)
let f(x:real):real = if x < 0 then 0 else x in (f(-2), grad[-2](f))
