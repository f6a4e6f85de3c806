(
  (12.50, 1e3, 2.5e-7),
  (1 / 3, 1e15, 1e16),
  (-0, 1e-400)  -- too small for a real: the nearest one is 0
)
