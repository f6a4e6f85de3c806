-- The last operation of a body stays as it is; operations before it are named.
-- trace
-- => rd x:real at 2 cotangent 1
-- =>   trace let t:real = sin(x) in let t_2:real = mul((t, x)) in exp(t_2)
-- =>   reverse let x_2:real = 2 in let t_3:real = sin(x_2) in let t_4:real = mul((t_3, x_2)) in let r:real = (1).exp_r(t_4) in let r_2:real * real = (r).mul_r((t_3, x_2)) in let y:real = fst(r_2) in let z:real = snd(r_2) in let r_3:real = (y).sin_r(x_2) in let w:real = z + r_3 in w
-- =>   value 0.47458893249195633
-- => = 0.47458893249195633
grad[2](x. exp(sin(x) * x))
