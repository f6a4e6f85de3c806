-- Vectors and matrices are nested tuples.
--
-- `real^2` is a pair of reals and `(real^2)^2` a matrix, row by row. The signs +, - and * work on
-- whole tuples: `v + w`, `v - w`, `-v`, and `2 * v` with a real on the left. `dot` is the sum of
-- the products of all components, at any type.
--
-- Paper: section 2, addition at every type and dot products.
-- Try: `zero[(real^2)^2]`, or the type of this program with `eddy check`.
-- run: tape, reference, transform

const a = ((2, 1), (1, 3)) in
const b = (4, 7) in

let apply(matrix:(real^2)^2, v:real^2):real^2 =
  let (row0, row1) = matrix in
  (dot(row0, v), dot(row1, v)) in

-- ½ v·Av - b·v. Its gradient is Av - b, so its minimum solves the equation Av = b.
let energy(v:real^2):real = 0.5 * dot(v, apply(a, v)) - dot(b, v) in

(
  grad[(0, 0)](energy),  -- -b
  grad[(1, 2)](energy),  -- zero: (1, 2) is the solution
  grad[a](matrix. dot((1, 2), apply(matrix, (1, 2))))  -- in the shape of the matrix
)
