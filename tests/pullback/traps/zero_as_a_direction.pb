-- run: fast, reference, translation
-- => <0, 0>
<(J (zero : R -> R) · 1) 2, (J (\x:R. x * x) · zero) 2>
