-- GE5
-- check
-- error[PB002] at line 5: parse
let x = 1 in
