-- Too few components.
-- check
let (a, b, c) = (1, 2) in a  -- error[RD005]: expected a tuple
