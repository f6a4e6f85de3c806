-- G06 of the specification: the same kink through sugar.
-- run: tape, reference, transform
-- => undefined: lt at (0, 0)
(* relu is the partial function: undefined at the kink *) relu(1 - 1)
