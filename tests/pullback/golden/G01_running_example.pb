-- G01 running example
-- check
-- => ok : (R^2)^*
-- run: fast, reference, translation
-- => [660, 528]^*
prim g(x, y) = <x + 1, 2*x + y^2>;
((Ω λ⟨x,y⟩. pow2(mult(g(⟨x,y⟩)))) · Ω [1]) ⟨1,3⟩
