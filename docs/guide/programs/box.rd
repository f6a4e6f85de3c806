use clarke
grad[0](x. abs(x) - abs(x))
