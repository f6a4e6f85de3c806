-- G21 of the specification: square root has an open domain.
-- run: tape, reference, transform
-- => undefined: sqrt at 0
sqrt(2 - 2)
