-- Prints as 0.
-- run: tape, reference, transform
-- => (0, 0)
(-0, 0 * -1)
