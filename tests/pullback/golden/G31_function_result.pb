-- G31 function result
-- check
-- => ok : R -> R
-- run: fast, reference, translation
-- => <fun>
\x:R. x
