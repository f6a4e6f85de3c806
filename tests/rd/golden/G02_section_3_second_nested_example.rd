-- G02 of the specification: paper, section 3: second nested example.
-- run: tape, reference, transform
-- => 1
letrec f(x:real):real = 1.rd[1](y:real. x + y) in 1.rd[1](x:real. x + f(x))
