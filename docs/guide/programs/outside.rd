grad[-1](x. log(x))
