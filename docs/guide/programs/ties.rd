use clarke
letrec ridge(x:real, n:real):real = if n < 0.5 then 0 else abs(x) + ridge(x, n - 1) in
grad[0](x. ridge(x, 13))
