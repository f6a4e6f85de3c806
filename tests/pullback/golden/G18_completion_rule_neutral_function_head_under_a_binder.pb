-- G18 completion rule: neutral function head under a binder
-- check
-- => ok : R^*
-- run: fast, reference, translation
-- => [12]^*
def f (x:R) = (\h. h x) (\z. z*z*z);
jacobian f at 2
