-- G33 comments and unicode
-- check
-- => ok : R
-- run: fast, reference, translation
-- => 25
(* outer (* nested *) still *) -- line
let sq = λx. x × x in sq 5
