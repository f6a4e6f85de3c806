-- G43 of the specification: free variable of a function.
-- check
let a = 2 in let f(x:real):real = a * x in f(3)  -- error[RD006]
