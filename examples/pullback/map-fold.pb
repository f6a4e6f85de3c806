-- A gradient through `map` and `fold`: the weight of a sum of squares over a list.
-- Lists are Church lists, not built in; the gradient goes through all of it.
-- Try `map (\x. exp (w * x))`.
-- run: fast, reference, translation
type List = (R -> R -> R) -> (R -> R);
def map (h : R -> R) (l : List) = \(f : R -> R -> R) (d : R). l (\x acc. f (h x) acc) d;
def fold (l : List) = l (\x acc. x + acc) 0;
def data = \(f : R -> R -> R) (d : R). f 1 (f 2 (f 3 d));
def energy (w : R) = fold (map (\x. (w * x)^2) data);

<energy 2, grad energy at 2>
