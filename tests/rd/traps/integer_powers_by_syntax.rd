-- An integer after `^` makes an integer power, defined for negative bases; a computed exponent does not.
-- run: tape, reference, transform
-- => -8
(-2)^3
