use clarke
1 + grad[0](x. abs(x))
