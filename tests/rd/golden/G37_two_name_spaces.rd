-- G37 of the specification: two name spaces.
-- run: tape, reference, transform
-- => 4
let f = 3 in let f(x:real):real = x + 1 in f(f)
