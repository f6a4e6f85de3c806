-- G01 of the specification: paper, section 3: first nested example.
-- check
-- => real
-- run: tape, reference, transform
-- => 1
1.rd[1](x:real. x * 1.rd[1](y:real. x + y))
