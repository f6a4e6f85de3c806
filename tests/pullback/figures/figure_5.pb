-- Figure 5: the list [7, -1] as a function of what folds it, pulled back at the sum. In the direction v, and at d, its derivative is
-- v (-1) (7 + d) + v 7 d; here d is 2, and v a constant, the first argument, the second, and their product.
-- run: fast, reference, translation
-- => <2, 6, 11, 5>
def l71 = \f:R -> R -> R. f (-1) (f 7 2);
let phi = ((Ω l71) · (Ω [1])) (\x y. x + y) in
<phi @ (\x y. 1), phi @ (\x y. x), phi @ (\x y. y), phi @ (\x y. x * y)>
