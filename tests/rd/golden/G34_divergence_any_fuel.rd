-- G34 of the specification: divergence (any fuel).
-- run: tape, reference, transform
-- => diverged: out of fuel
letrec f(x:real):real = f(x + 1) in f(0)
