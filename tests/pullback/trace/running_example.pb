-- The running example of the paper (section 6.4): divide, conquer, forward with 484, back to [660 528].
-- trace
prim g(x, y) = <x + 1, 2*x + y^2>;
((Ω λ⟨x,y⟩. pow2(mult(g(⟨x,y⟩)))) · Ω [1]) ⟨1,3⟩
