letrec f(x:real):real = f(x + 1) in
f(0)
