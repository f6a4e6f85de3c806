-- The second comparison is a tie, and is not reached.
-- run: tape, reference, transform
-- => (1, 1)
(if 1 < 2 || 1 < 1 then 1 else 0, if 2 < 1 && 1 < 1 then 0 else 1)
