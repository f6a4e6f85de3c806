let bell(x:real):real = 1 / (1 + x * x) in  -- Agnesi's curve
(bell(1), grad[1](bell))
