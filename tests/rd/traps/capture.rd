-- Every binder is called x.
-- run: tape, reference, transform
-- => 18
let x = 3 in grad[x](x. let x = x * x in x * grad[x](x. x) + x * grad[x](x. x + x))
