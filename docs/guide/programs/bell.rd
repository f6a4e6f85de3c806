let bell(x:real):real = 1 / (1 + x * x) in
(bell(1), grad[1](bell))
