-- Derivatives inside derivatives, and the mistake called perturbation confusion.
--
-- In the first program the inner derivative, of x + y by y, is 1 for every x. The body is
-- x · 1, and its derivative is 1. A system that carries derivatives in one slot confuses the
-- change of x with the change of y: it computes 2 for the inner derivative, and answers 2.
--
-- Paper: section 3, first and second example of nested differentiation; it cites Siskind and
-- Pearlmutter, who named the mistake.
-- Try: `eddy trace examples/rd/nested.rd`: the first trace contains 1 where the inner derivative was.
-- run: tape, reference, transform

letrec f(x:real):real = grad[1](y. x + y) in

(
  grad[1](x. x * grad[1](y. x + y)),  -- the derivative of x · 1; confused: 2
  grad[2](x. x * grad[3](y. x * y)),  -- the derivative of x · x; confused: 5
  grad[1](x. x + f(x))  -- through a function; confused systems are right by chance
)
