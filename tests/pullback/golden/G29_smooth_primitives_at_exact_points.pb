-- G29 smooth primitives at exact points
-- check
-- => ok : R^2
-- run: fast, reference, translation
-- => <1, 0.125>
prim h(a, b) = exp(a) * cos(b) + sqrt(b + 4) / 2;
grad h at (0, 0)
