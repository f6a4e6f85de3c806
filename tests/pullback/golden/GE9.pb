-- GE9
-- check
-- error[PB002] at line 4: parse
Ω (\x:R. x)
