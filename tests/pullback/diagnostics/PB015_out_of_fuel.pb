-- run --fuel 5
-- exit: 3
1 + 2 + 3 + 4 + 5 + 6 + 7 + 8  -- error[PB015]: fuel
