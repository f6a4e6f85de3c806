-- Derivatives that were complete before are shown.
-- trace --fuel 10
-- => rd x:real at 3 cotangent 1
-- =>   trace mul((x, x))
-- =>   reverse let x_2:real = 3 in let r:real * real = (1).mul_r((x_2, x_2)) in let y:real = fst(r) in let z:real = snd(r) in let w:real = y + z in w
-- =>   value 6
-- => diverged: out of fuel
let x = grad[3](x. x * x) in letrec f(x:real):real = f(x + 1) in f(x)
