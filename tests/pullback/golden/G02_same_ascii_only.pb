-- G02 same, ASCII only
-- check
-- => ok : (R^2)^*
-- run: fast, reference, translation
-- => [660, 528]^*
prim g(x, y) = <x + 1, 2*x + y^2>;
def f = \p. pow2(mult(g p));
pull(f, \u. [1]^*) <1,3>
