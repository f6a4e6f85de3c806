-- G15 of the specification: paper, section 2: zero and addition at structured types.
-- check
-- => real * unit
-- run: tape, reference, transform
-- => (7, ())
zero[real * unit] + (3, ()) + (4, ())
