-- Let does not see itself.
-- check
let fact(n:real):real =
  if n < 0.5 then 1 else n * fact(n - 1) in  -- error[RD004]: unknown function
fact(5)
