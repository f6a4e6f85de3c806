-- G25 of the specification: overflow.
-- check
-- => real
-- run: tape, reference, transform
-- => undefined: overflow
1 + exp(1000)
