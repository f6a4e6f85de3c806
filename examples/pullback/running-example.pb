-- The running example of the paper: the gradient of (x + 1)² (2x + y²)², by a pullback of the constant 1-form 1.
-- Try `eddy trace` on it: the values go forward to 484, then covectors come back to [660, 528]^*.
-- Section 3.1 and Example 3.7.
-- run: fast, reference, translation
prim g(x, y) = <x + 1, 2 * x + y^2>;

((Ω λ⟨x, y⟩. pow2 (mult (g ⟨x, y⟩))) · Ω [1]) ⟨1, 3⟩
