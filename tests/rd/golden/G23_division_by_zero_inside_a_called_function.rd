-- G23 of the specification: division by zero inside a called function.
-- run: tape, reference, transform
-- => undefined: div at (1, 0)
let f(x:real):real = 1 / (x - 2) in grad[2](x. 3 + f(x))
