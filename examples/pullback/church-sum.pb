-- The derivative of the sum of a list, where a list is its own fold: it is linear, so it sums the direction.
-- Example 3.2 of the paper. Try another direction, such as `\f d. f 1 (f 2 d)`.
-- run: fast, reference, translation
type List = (R -> R -> R) -> (R -> R);
def sum (l : List) = l (\x y. x + y) 0;

let slope = ((Ω sum) · Ω [1]) (\f d. f (-1) (f 7 d)) in
<slope @ (\f d. f (-1) (f 7 d)), slope @ (\f d. f 5 d)>
