-- run: fast, reference, translation
-- => <1, 2, 3, <1, <2, 3>>>
<(<<1, 2>, 3> : R^3), (<1, <2, 3>> : R * R^2)>
