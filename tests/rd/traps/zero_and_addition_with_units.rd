-- Both exist at every type.
-- check
-- => real * unit * (unit * real)
-- run: tape, reference, transform
-- => ((3, ()), ((), 4))
zero[real * unit * (unit * real)] + (3, (), ((), 4))
