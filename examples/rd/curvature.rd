-- The second derivative in a direction: a Hessian times a vector.
--
-- The gradient is a function, and `fd` differentiates it along a direction: H·v, without the matrix
-- H. The example is Rosenbrock's valley at its lowest point. Along the valley the curvature is 2,
-- across it, for a direction of the same length, 5008: this is why gradient descent zigzags.
--
-- Paper: section 2, forward mode over reverse mode.
-- Try: the directions (1, 0) and (0, 1), which give the columns of H.
-- run: tape, reference, transform

let valley(x:real, y:real):real = (1 - x)^2 + 100 * (y - x * x)^2 in
let hessian_times(v:real^2):real^2 = v.fd[(1, 1)](p. grad[p](valley)) in
let curvature(v:real^2):real = dot(v, hessian_times(v)) in

(
  grad[(1, 1)](valley),  -- the bottom is flat
  (hessian_times(1, 2), curvature(1, 2)),  -- along
  (hessian_times(2, -1), curvature(2, -1))  -- across
)
