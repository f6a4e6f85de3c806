-- A let without in.
-- check
let x = (1, 2
let y = 3 in  -- error[RD002]: expected
y
