-- Functions of several variables, and what their gradients look like.
--
-- A function with several parameters takes one tuple, so a point is a tuple too. The gradient has
-- the type of the point, whatever its nesting: each real in the point gets its partial derivative.
--
-- Paper: section 2, `grad`. The paper has points in real^n; Eddy allows every type.
-- Try: swap the two parts of `model`, its weights and its bias; the gradient changes its type too.
-- run: tape, reference, transform

let volume(side:real, height:real):real = side * side * height in

-- A weighted sum of two inputs plus a bias, squared; the point holds weights and bias.
let model(weights:real^2, bias:real):real = (dot(weights, (1, 10)) + bias)^2 in

(
  volume(3, 2),
  grad[(3, 2)](volume),  -- (2 · side · height, side²)
  grad[((2, 0), 1)](model)  -- nested as the point is: ((…, …), …)
)
