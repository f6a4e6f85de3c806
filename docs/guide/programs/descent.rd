let loss(w:real):real = (w - 3) * (w - 3) in
letrec descend(w:real):real = if loss(w) < 0.001 then w else descend(w - 0.25 * grad[w](loss)) in
descend(0)
