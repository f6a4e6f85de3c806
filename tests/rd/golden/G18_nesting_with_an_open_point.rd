-- G18 of the specification: nesting with an open point.
-- run: tape, reference, transform
-- => 4
1.rd[2](x:real. x * 1.rd[3](y:real. x * y))
