-- Differentiate through training: would a larger learning rate have helped?
--
-- `after` trains for three steps and reports the loss that is left. Its derivative with respect to
-- the rate runs through every step, and each step contains a derivative itself. It is negative:
-- a slightly larger rate leaves a smaller loss.
--
-- Paper: section 2, descent; section 3, nested derivatives.
-- Try: the rate 0.5, which is perfect here, and 0.75, which overshoots.
-- run: tape, reference, transform

let loss(w:real):real = (w - 3)^2 in

letrec train(w:real, rate:real, steps:real):real =
  if steps < 0.5 then w else train(w - rate * grad[w](loss), rate, steps - 1) in

let after(rate:real):real = loss(train(0, rate, 3)) in

(after(0.25), grad[0.25](after))
