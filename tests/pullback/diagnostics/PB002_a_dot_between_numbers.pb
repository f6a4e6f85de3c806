-- check
2 · 3  -- error[PB002]: parse
