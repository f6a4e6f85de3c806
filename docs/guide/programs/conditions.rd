let x = 2 in
(
  if 1 < x && x < 3 then 1 else 0,
  if not (x < 3 || x > 5) then 1 else 0,
  if 2 < 3 || x < 2 then 1 else 0,  -- `x < 2` would be undefined, and is not asked
  if (x + 1) * 2 > 5 then 1 else 0
)
