-- G35 of the specification: constants inside functions.
-- run: tape, reference, transform
-- => (7, 2)
const k = (2, -3) in let f(x:real):real = x * fst(k) + snd(k) in (f(5), grad[5](f))
