-- G26 of the specification: general power.
-- run: tape, reference, transform
-- => ((2, 3), (2, 0))
((4^0.5, 9^(1/2)), 1.rd[(1, 2)](p. fst(p) ^ snd(p)))
