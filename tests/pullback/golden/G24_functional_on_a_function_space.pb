-- G24 functional on a function space
-- check
-- => ok : R^2
-- run: fast, reference, translation
-- => <20, 9>
let phi = ((Ω λf:R->R. f (f 2)) · Ω [1]) (\x. x*x) in <phi @ (\x. x), phi @ (\x. 1)>
