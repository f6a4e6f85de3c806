-- G31 of the specification: recursion and its derivative.
-- run: tape, reference, transform
-- => (120, 274)
letrec fact(n:real):real = if n < 0.5 then 1 else n * fact(n - 1) in (fact(5), grad[5](fact))
