(
  (relu(-2), relu(2), grad[2](x. relu(x))),
  (abs(-2), abs(2), grad[-2](x. abs(x))),
  (max(3, 4), grad[(3, 4)](p. max(p))),
  (min(3, 4), grad[(3, 4)](p. min(p)))
)
