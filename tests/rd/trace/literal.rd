-- `R` as Figure 6 has it: the body of a `let` is differentiated twice.
-- trace --literal
-- => rd x:real at 3 cotangent 1
-- =>   trace let t:real = mul((x, x)) in let y:real = t in mul((y, x))
-- =>   reverse let x_2:real = 3 in let t_2:real = mul((x_2, x_2)) in (let x_3:real = 3 in let y_2:real = t_2 in (let x_4:real = 3 in let y_3:real * real = (1).mul_r((y_2, x_4)) in let y_4:real = fst(y_3) in let z:real = snd(y_3) in 0 + z) + (let w:real = let y_5:real = y_2 in let y_6:real * real = (1).mul_r((y_5, x_3)) in let y_7:real = fst(y_6) in let z_2:real = snd(y_6) in y_7 + 0 in 0)) + (let w_2:real = let t_3:real = t_2 in let y_8:real = t_3 in (let t_4:real = t_2 in let y_9:real * real = (1).mul_r((y_8, x_2)) in let y_10:real = fst(y_9) in let z_3:real = snd(y_9) in 0 + 0) + (let w_3:real = let y_11:real = y_8 in let y_12:real * real = (1).mul_r((y_11, x_2)) in let y_13:real = fst(y_12) in let z_4:real = snd(y_12) in y_13 + 0 in w_3) in let x_5:real = 3 in let y_14:real * real = (w_2).mul_r((x_5, x_5)) in let y_15:real = fst(y_14) in let z_5:real = snd(y_14) in y_15 + z_5)
-- =>   value 27
-- => = 27
grad[3](x. let y = x * x in y * x)
