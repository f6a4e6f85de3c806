-- G09 open program (free 1-form)
-- check
-- => ok : ((R -> R -> R) -> R -> R)^*
-- run: fast, reference, translation
-- => <open>
type List = (R -> R -> R) -> (R -> R);
assume w : Ω R;
def sum (l : List) = l (\x y. x + y) 0;
((Ω sum) · w) (\f d. f (-1) (f 7 d))
