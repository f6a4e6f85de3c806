-- check
((Ω λx:R. x) · Ω [1, 2]) 3  -- error[PB004]: mismatch
