-- Fit a line to four points by gradient descent.
--
-- The points scatter around 2 x + 1, the line with the least squares. Descent starts at the line
-- (0, 0) and moves against the gradient until the gradient is tiny. The trained model is a
-- function like any other, so it can be differentiated: the answer is the slope of the line.
--
-- Paper: section 2, the last example, there with one point and one weight.
-- Try: the rate 0.0625, which is too large: every step overshoots, until a number overflows.
-- run: tape, reference, transform

const rate = 0.05 in

let model(line:real^2, x:real):real = let (slope, offset) = line in slope * x + offset in

let error(line:real^2, x:real, y:real):real = (model(line, x) - y)^2 in

let loss(line:real^2):real =
  error(line, 0, 1.5) + error(line, 1, 2.5) + error(line, 2, 4.5) + error(line, 3, 7.5) in

letrec descend(line:real^2):real^2 =
  let gradient = grad[line](loss) in
  if dot(gradient, gradient) < 1e-12 then line else descend(line - rate * gradient) in

let trained(x:real):real = model(descend(0, 0), x) in

(trained(10), grad[10](trained))
