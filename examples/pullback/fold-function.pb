-- The derivative with respect to a function: how a fold changes when its folding function does.
-- A derivative at a function type is a functional; `@` applies it to a direction, which is a change of the function.
-- run: fast, reference, translation
def run (op : R -> R -> R) = op (-1) (op 7 0);

let slope = pull(run, Ω [1]) (\x y. x * y + x) in
<slope @ (\x y. 1), slope @ (\x y. x), slope @ (\x y. y)>
