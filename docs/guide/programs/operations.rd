(
  ((sub(5, 3), 1.sub_r(5, 3)), (mul(5, 3), 1.mul_r(5, 3)), (div(1, 4), 1.div_r(1, 4))),
  ((neg(5), 1.neg_r(5)), (exp(0), 1.exp_r(0)), (log(1), 1.log_r(1)), (sqrt(4), 1.sqrt_r(4))),
  ((sin(0), 1.sin_r(0)), (cos(0), 1.cos_r(0)), (tan(0), 1.tan_r(0))),
  ((tanh(0), 1.tanh_r(0)), (sigmoid(0), 1.sigmoid_r(0))),
  ((pow(1, 3), 1.pow_r(1, 3)), (powi[3](2), 1.powi_r[3](2)), (powi[-2](2), 1.powi_r[-2](2))),
  (dot((1, 2), (3, 4)), 1.dot_r((1, 2), (3, 4))),
  (scale(3, (1, 2)), (1, 10).scale_r(3, (1, 2)))
)
