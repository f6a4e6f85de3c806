-- A neural network with two inputs, two hidden neurons and one output learns exclusive or.
--
-- A neuron is two weights and a bias, a network is three neurons: one tuple of nine reals. The
-- gradient of the loss has the same type, so a step of training is one subtraction, in `train`.
-- False and true are -1 and 1. The answer is the network's output for the four inputs, and the
-- number of steps until the loss was small.
--
-- Paper: section 2, gradient descent and dot products.
-- Try: print `network(net, (1, 1))` itself, or `net`; the rate 0.25; then 0.5, which is too large.
-- run: tape, reference, transform

const rate = 0.125 in

let neuron(cell:real^2 * real, x:real^2):real =
  let (weights, bias) = cell in
  tanh(dot(weights, x) + bias) in

let network(net:(real^2 * real)^3, x:real^2):real =
  let (hidden0, hidden1, output) = net in
  neuron(output, (neuron(hidden0, x), neuron(hidden1, x))) in

let error(net:(real^2 * real)^3, x:real^2, y:real):real = (network(net, x) - y)^2 in

let loss(net:(real^2 * real)^3):real =
  error(net, (-1, -1), -1)
    + error(net, (-1, 1), 1)
    + error(net, (1, -1), 1)
    + error(net, (1, 1), -1) in

letrec train(net:(real^2 * real)^3, steps:real):(real^2 * real)^3 * real =
  if loss(net) < 0.01 then (net, steps) else train(net - rate * grad[net](loss), steps + 1) in

let verdict(net:(real^2 * real)^3, x:real^2):real = if network(net, x) < 0 then -1 else 1 in

let (net, steps) = train((((0.5, 0.25), 0), ((0.25, 0.5), 0.5), ((1, -1), 0)), 0) in

(
  (verdict(net, (-1, -1)), verdict(net, (-1, 1)), verdict(net, (1, -1)), verdict(net, (1, 1))),
  steps
)
