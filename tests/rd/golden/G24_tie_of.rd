-- G24 of the specification: tie of >.
-- run: tape, reference, transform
-- => undefined: gt at (2, 2)
if 2 > 1 + 1 then 1 else 0
