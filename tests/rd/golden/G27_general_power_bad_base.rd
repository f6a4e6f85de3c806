-- G27 of the specification: general power, bad base.
-- run: tape, reference, transform
-- => undefined: pow at (-8, 0.3333333333333333)
(0 - 8) ^ (1/3)
