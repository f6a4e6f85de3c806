-- There is no `if`.
-- check
let x = 1 in
if x then 1 else 2  -- error[PB002]: expected an expression
