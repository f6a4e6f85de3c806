-- G26 nested tuple printing and left nesting
-- check
-- => ok : R^2 * R^2
-- run: fast, reference, translation
-- => <1, 2, <3, 4>>
<1, 2, <3, 4>>
