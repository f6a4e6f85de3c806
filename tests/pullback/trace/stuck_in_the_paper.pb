-- Without the completion rule C1 this is stuck, as in the paper.
-- trace --paper
def f (x:R) = (\h:R -> R. h x) (\z. z*z*z);
assume g : R -> R;
((Ω λx:R. g x) · Ω [1]) 2
