-- The sum of a Church list with a free 1-form (section 6.5): ends in (λv. v (λx y. x + y) 0)^* · (w 6).
-- trace
type List = (R -> R -> R) -> (R -> R);
assume w : Ω R;
def sum (l : List) = l (\x y. x + y) 0;
((Ω sum) · w) (\f d. f (-1) (f 7 d))
