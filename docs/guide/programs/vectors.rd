let v = (1, 2) in
let w = (3, 8) in
(
  (v + w, v - 0.5 * w, -v),
  (dot(v, w), scale(2, v), zero[real^2]),
  dot(((1, 2), 3), ((4, 5), 6))  -- at every type: 1 · 4 + 2 · 5 + 3 · 6
)
