-- check
Ω (\x:R. x)  -- error[PB002]: parse
