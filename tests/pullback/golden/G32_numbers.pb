-- G32 numbers
-- check
-- => ok : R^5
-- run: fast, reference, translation
-- => <0.30000000000000004, 0, 0.25, 1e17, 1e-7>
<0.1 + 0.2, -0 * 1, 1/4, 10^15 * 100, 1e-7>
