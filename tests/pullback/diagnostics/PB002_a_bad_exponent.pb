-- check
\x:R. x^-1  -- error[PB002]: parse
