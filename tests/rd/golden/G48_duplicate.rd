-- G48 of the specification: duplicate.
-- check
let (a, a) = (1, 2) in a  -- error[RD008]
