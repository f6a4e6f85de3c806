-- G23 zero at a higher type
-- check
-- => ok : R
-- run: fast, reference, translation
-- => 0
(zero : R -> R -> R) 3 4
