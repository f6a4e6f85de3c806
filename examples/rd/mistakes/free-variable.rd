-- A function sees its parameters, constants and other functions, but no variable from outside.
-- Try: `const` in place of the first `let`, or the parameters (rate:real, w:real).
-- error[RD006] at line 6: free variable

let rate = 0.25 in
let step(w:real):real = w - rate * grad[w](v. v * v) in
step(3)
