grad[0](x. let unused = log(x) in x)
