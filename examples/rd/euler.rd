-- A differential equation, and how its solution depends on where it starts.
--
-- A population grows by x' = rate · x · (1 - x) until it reaches 1. The loop takes 32 steps of
-- Euler's method; its derivative is the sensitivity of the final state. The last number is a
-- difference quotient for comparison: it agrees in the leading digits only.
--
-- Paper: section 1, loops as recursive functions.
-- Try: more steps. The population saturates, and both sensitivities go to 0.
-- run: tape, reference, transform

const step = 0.125 in

letrec euler(x:real, rate:real, n:real):real =
  if n < 0.5 then x else euler(x + step * rate * x * (1 - x), rate, n - 1) in

let final(start:real, rate:real):real = euler(start, rate, 32) in

(
  final(0.125, 1),
  grad[(0.125, 1)](final),  -- with respect to the start and to the rate
  (final(0.126, 1) - final(0.124, 1)) / 0.002
)
