-- G34 rule 16b: the point occurs only in the map, the covector is a variable bound inside
-- check
-- => ok : R
-- run: fast, reference, translation
-- => 12
grad (\a:R. (\q:R^*. sharp ((λx:R. (J mult · <x, zero>) <1, a*a>)^* · q)) ([3]^*)) at 2
