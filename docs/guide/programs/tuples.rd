let point:real^3 = (1, 2, 3) in
let (x, y, z) = point in
let (front, back:real) = point in
(point, fst(point), snd(point), x + y + z, front)
