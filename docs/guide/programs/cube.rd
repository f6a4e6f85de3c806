grad[3](x. x * x * x)
