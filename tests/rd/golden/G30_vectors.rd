-- G30 of the specification: vectors.
-- run: tape, reference, transform
-- => ((-0.5, -2), (-1, -2))
let v:real^2 = (1, 2) in let w = (3, 8) in (v - 0.5 * w, -v)
