-- G22 of the specification: square root under rd.
-- run: tape, reference, transform
-- => undefined: sqrt at 0
grad[0](x. 1 + sqrt(x))
