-- G40 of the specification: descent with exact arithmetic.
-- run: tape, reference, transform
-- => 2.9765625
const target = 3 in const rate = 0.25 in
let loss(w:real):real = (w - target) * (w - target) in
letrec descend(w:real):real = if loss(w) < 0.001 then w else descend(w - rate * grad[w](loss)) in
descend(0)
