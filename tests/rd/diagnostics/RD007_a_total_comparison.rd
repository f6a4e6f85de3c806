-- A total comparison.
-- check
let relu0(x:real):real = if x <= 0 then 0 else x in  -- error[RD007]: not continuous
relu0(1)
