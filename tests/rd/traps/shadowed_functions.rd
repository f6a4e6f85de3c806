-- A function calls the f that it saw, not the one where it is called.
-- run: tape, reference, transform
-- => (11, 101)
let f(x:real):real = x + 10 in
let g(x:real):real = f(x) in
let f(x:real):real = x + 100 in
(g(1), f(1))
