-- G10 product of a Church list (not linear in the fold)
-- check
-- => ok : R^2
-- run: fast, reference, translation
-- => <1, 1>
type List = (R -> R -> R) -> (R -> R);
def product (l : List) = l (\x y. x * y) 1;
let phi = pull(product, Ω [1]) (\f d. f (-1) (f 7 d)) in
<phi @ (\f d. f 1 d), phi @ (\f d. d)>
