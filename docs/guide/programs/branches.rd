let f(x:real):real = if x < 0 then -x else x * x in
grad[3](f)
