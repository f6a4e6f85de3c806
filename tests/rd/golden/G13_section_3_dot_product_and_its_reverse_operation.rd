-- G13 of the specification: paper, section 3: dot product and its reverse operation.
-- check
-- => real * (real * real * (real * real))
-- run: tape, reference, transform
-- => (11, ((6, 8), (2, 4)))
(dot((1, 2), (3, 4)), 2.dot_r((1, 2), (3, 4)))
