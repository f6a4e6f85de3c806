-- G39 of the specification: if as an operand.
-- run: tape, reference, transform
-- => 11
1 + if 1 < 2 then 10 else 20
