letrec[3] factorial(n:real):real = if n < 0.5 then 1 else n * factorial(n - 1) in
factorial(3)
