-- Figure 4, forward mode: the values and the derivatives along both axes, after the second and the third elementary function.
-- run: fast, reference, translation
-- => <2, 11, 22, 484, 15, 12, 660, 528>
prim g(x, y) = <x + 1, 2*x + y^2>;
def two = \p:R^2. mult(g p);
def three = \p:R^2. pow2(two p);
let z = <1,3> in
<fst (g z), snd (g z), two z, three z, (J two · <1,0>) z, (J two · <0,1>) z, (J three · <1,0>) z, (J three · <0,1>) z>
