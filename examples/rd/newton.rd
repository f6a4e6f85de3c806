-- Newton's method: find a minimum with the first and the second derivative.
--
-- Where f is least its slope is 0. A step of slope / curvature jumps to where the slope would be 0
-- if f were a parabola. The second derivative is `grad` of `grad`.
-- For this f every step squares the distance to the minimum at 1: 1/2, 1/4, 1/16, 1/256, …
--
-- Paper: section 2; derivatives may be nested to any depth.
-- Try: another function, such as exp(x) - 2 * x, whose minimum is at log(2).
-- run: tape, reference, transform

let f(x:real):real = x - log(x) in
let slope(x:real):real = grad[x](f) in
let curvature(x:real):real = grad[x](slope) in

letrec newton(x:real, steps:real):real =
  if steps < 0.5 then x else newton(x - slope(x) / curvature(x), steps - 1) in

(newton(0.5, 1), newton(0.5, 2), newton(0.5, 3), newton(0.5, 4))
