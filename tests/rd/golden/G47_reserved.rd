-- G47 of the specification: reserved.
-- check
let sin = 3 in sin  -- error[RD009]
