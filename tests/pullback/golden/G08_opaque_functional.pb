-- G08 opaque functional
-- check
-- => ok : ((R -> R -> R) -> R -> R)^*
-- run: fast, reference, translation
-- => <dual>
type List = (R -> R -> R) -> (R -> R);
def sum (l : List) = l (\x y. x + y) 0;
((Ω sum) · (Ω [1])) (\f d. f (-1) (f 7 d))
