-- Recursion with a limit, `letrec[n]`, and the derivative of something found by iteration.
--
-- Heron's method improves a guess until its square is near enough. `letrec[8]` allows 8 nested
-- calls: more are `undefined: letrec limit in improve`, where plain `letrec` would continue.
-- The derivative is taken through the iteration and agrees with 1 / (2 · √x).
--
-- Paper: section 6.2 and figure 8, limited recursion. There it is a tool of proofs: a program has a
-- value exactly if its approximants, each `letrec` replaced by `letrec[n]`, have it for large n.
-- Try: `letrec[3]`; then `letrec`, together with `eddy run --approx 3` and `--approx 8`.
-- run: tape, reference

letrec[8] improve(x:real, guess:real):real =
  let miss = guess * guess - x in
  if miss * miss < 1e-20 then guess else improve(x, 0.5 * (guess + x / guess)) in
let root(x:real):real = improve(x, 1) in
((root(2), grad[2](root)), (root(9), grad[9](root)))
