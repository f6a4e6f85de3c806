-- A name twice in a pattern.
-- check
let (a, b, a) = (1, 2, 3) in b  -- error[RD008]: duplicate name
