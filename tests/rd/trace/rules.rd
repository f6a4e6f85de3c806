-- Every rule, as it is applied: ⇒ is ordinary, ⇝ symbolic evaluation.
-- trace --rules
-- =>   ⇒ Letrec  f
-- =>   ⇒ Rd      at 3 cotangent 1
-- =>   ⇝ Call    f(3)
-- =>   ⇝ Pred    lt (3, 0) ⇒ false
-- =>   ⇝ IfFalse
-- =>   ⇝ Op      mul (3, 3)
-- => rd x:real at 3 cotangent 1
-- =>   trace let x_2:real = x in mul((x_2, x_2))
-- =>   reverse let x_3:real = 3 in let x_4:real = x_3 in let r:real * real = (1).mul_r((x_4, x_4)) in let y:real = fst(r) in let z:real = snd(r) in let w:real = y + z in w
-- =>   value 6
-- =>   ⇒ Let     z = (6, 1)
-- =>   ⇒ Fst     (6, 1) ⇒ 6
-- =>   ⇒ Let     a = 6
-- =>   ⇒ Snd     (6, 1) ⇒ 1
-- =>   ⇒ Let     b = 1
-- =>   ⇒ Fst     (6, 1) ⇒ 6
-- =>   ⇒ Add     6 + 1 ⇒ 7
-- => = 7
let f(x:real):real = if x < 0 then 0 else x * x in
let (a, b) = (grad[3](f), 1) in
fst(a, b) + b
