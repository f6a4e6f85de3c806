-- G07 of the specification: paper, introduction: the identity with a test for equality is rejected.
-- check
let g(x:real):real = if (x == 0) then 0 else x in grad[0](g)  -- error[RD007]
