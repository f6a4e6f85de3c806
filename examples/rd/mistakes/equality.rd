-- The identity, written with a test for equality (paper, section 1). Its derivative at 0 is 1, but
-- a system that differentiates the branch taken, the constant 0, answers 0. Eddy refuses the test.
-- Try: `use clarke` as the first line; the answer is then 1.
-- error[RD007] at line 6: not continuous

let identity(x:real):real = if x == 0 then 0 else x in
grad[0](identity)
