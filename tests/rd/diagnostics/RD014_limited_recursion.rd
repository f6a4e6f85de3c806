-- Limited recursion.
-- run: transform
letrec[3] f(n:real):real = if n < 0.5 then 1 else n * f(n - 1) in  -- error[RD014]: letrec[n] cannot be transformed
grad[2](f)
