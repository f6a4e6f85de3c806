log(0).rd[sqrt(0)](x. x)
