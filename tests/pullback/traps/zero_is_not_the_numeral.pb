-- run: fast, reference, translation
-- => <0, 0, [0]^*, 0>
<(zero : R -> R) 3, (zero : R), (zero : R^*), fst (zero : R^2)>
