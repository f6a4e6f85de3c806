grad[1](x. if x < 1 then x * x else x * x)
