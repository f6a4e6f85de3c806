-- The value is not used, and the program is still undefined.
-- run: tape, reference, transform
-- => undefined: lt at (1, 1)
let unused = if 1 < 1 then 1 else 2 in 5
