-- G22 sums of functions
-- check
-- => ok : R^2
-- run: fast, reference, translation
-- => <10, 7>
<((\x:R. x*x) + (\x. 3*x)) 2, sharp (((Ω ((\x:R. x*x) + (\x. 3*x))) · Ω [1]) 2)>
