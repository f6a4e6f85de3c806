-- The exponent is no literal, so this is the general power, whose base is positive.
-- run: tape, reference, transform
-- => undefined: pow at (-2, 3)
let n = 3 in (-2)^n
