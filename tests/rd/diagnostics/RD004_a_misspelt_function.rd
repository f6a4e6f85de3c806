-- A misspelt function.
-- check
let square(x:real):real = x * x in
sqare(3)  -- error[RD004]: unknown function
