-- `J F·0` is 0 (rule C2), whether or not the function has a derivative there.
-- run: fast, reference, translation
-- => <0, 0, 0>
<(J (\x:R. sqrt x) · 0) 0, (J sqrt · (1 - 1)) 0, (J (\p:R * (R -> R). sqrt (fst p)) · <0, zero>) <0, \x. x>>
