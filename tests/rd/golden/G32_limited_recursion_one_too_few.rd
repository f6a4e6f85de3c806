-- G32 of the specification: limited recursion, one too few.
-- run: tape, reference
-- => undefined: letrec limit in f
letrec[3] f(n:real):real = if n < 0.5 then 1 else n * f(n - 1) in f(3)
