-- G33 of the specification: limited recursion, unused.
-- run: tape, reference
-- => 5
letrec[0] f(x:real):real = x in 5
