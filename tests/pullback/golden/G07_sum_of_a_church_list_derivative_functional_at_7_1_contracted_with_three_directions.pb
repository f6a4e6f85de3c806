-- G07 sum of a Church list: derivative functional at [7,-1], contracted with three directions
-- check
-- => ok : R^3
-- run: fast, reference, translation
-- => <6, 5, 3>
type List = (R -> R -> R) -> (R -> R);
def sum (l : List) = l (\x y. x + y) 0;
def l71 = \f d. f (-1) (f 7 d);
let phi = ((Ω sum) · (Ω [1])) l71 in
<phi @ l71, phi @ (\f d. f 5 d), phi @ (\f d. 3)>
