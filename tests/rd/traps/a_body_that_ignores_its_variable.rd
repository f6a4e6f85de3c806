-- It must be defined at the point all the same.
-- run: tape, reference, transform
-- => undefined: log at -1
grad[5](x. log(-1))
