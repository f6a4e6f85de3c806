let loss(w:real):real = w^4 in
letrec descend(w:real, steps:real):real =
  if steps < 0.5 then w else descend(w - grad[w](loss), steps - 1) in
descend(2, 100)
