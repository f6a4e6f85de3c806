-- GE11
-- check
-- error[PB004] at line 4: mismatch
((Ω λx:R. x) · Ω [1, 2]) 3
