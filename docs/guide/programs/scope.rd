const k = (2, -3) in
let f(x:real):real = fst(k) * x + snd(k) in
let f(x:real, y:real):real = f(x) + f(y) in  -- calls the `f` above
let f = 5 in  -- a variable, no function
let x = 1 in
let x = x + f in  -- the `x` on the right is the one above
(x, f(x, f))
