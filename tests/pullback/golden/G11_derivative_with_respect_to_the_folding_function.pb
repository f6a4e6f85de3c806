-- G11 derivative with respect to the folding function
-- check
-- => ok : R^3
-- run: fast, reference, translation
-- => <0, -8, 7>
def run (op : R -> R -> R) = op (-1) (op 7 0);
let phi = pull(run, Ω [1]) (\x y. x * y + x) in
<phi @ (\x y. 1), phi @ (\x y. x), phi @ (\x y. y)>
