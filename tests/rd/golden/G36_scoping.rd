-- G36 of the specification: scoping.
-- run: tape, reference, transform
-- => 20
let x = 1 in let x = x + 1 in let f(x:real):real = x * 10 in let x = f(x) in x
