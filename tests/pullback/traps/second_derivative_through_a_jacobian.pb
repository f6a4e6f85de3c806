-- run: fast, reference, translation
-- => 36
prim c(x) = x^3;
grad (\x:R. (J c · x) x) at 2
