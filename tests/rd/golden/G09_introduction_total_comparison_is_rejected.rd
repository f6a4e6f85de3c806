-- G09 of the specification: paper, introduction: total comparison is rejected.
-- check
let f(x:real):real = if x <= 0 then 0 else x in f(1)  -- error[RD007]
