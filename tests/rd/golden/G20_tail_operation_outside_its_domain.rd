-- G20 of the specification: tail operation outside its domain.
-- run: tape, reference, transform
-- => undefined: log at -1
1.rd[-1](x. log(x))
