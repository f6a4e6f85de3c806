-- Three calls, however often derivatives walk over them.
-- run --fuel 3: tape, reference, transform
-- => 24
letrec f(x:real, n:real):real = if n < 0.5 then x * x * x * x else f(x, n - 1) in
grad[1](x. grad[x](y. grad[y](z. f(z, 2))))
