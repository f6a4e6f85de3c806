-- check
1 £ 2  -- error[PB001]: parse
