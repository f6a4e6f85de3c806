-- G28 of the specification: integer powers.
-- run: tape, reference, transform
-- => ((0.25, -0.25), 0)
((2^-2, grad[2](x. x^-2)), grad[3](x. x^0))
