letrec sum(n:real):real = if n < 0.5 then 0 else n + sum(n - 1) in
(sum(1000000), grad[1000000](sum))
