-- G17 of the specification: paper, section 2: a function defined through its own derivative.
-- run: tape, reference, transform
-- => (1, 2)
letrec f(x:real):real = if x < 1 then x * x else grad[x](y:real. f(y - 1)) in (f(1.5), grad[1.5](f))
