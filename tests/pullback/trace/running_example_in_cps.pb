-- The same in continuation-passing style (Section 3.5 of the paper).
-- trace --cps
prim g(x, y) = <x + 1, 2*x + y^2>;
((Ω λ⟨x,y⟩. pow2(mult(g(⟨x,y⟩)))) · Ω [1]) ⟨1,3⟩
