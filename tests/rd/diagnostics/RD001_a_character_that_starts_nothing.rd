-- A character that starts nothing.
-- check
let x = 3 in x % 2  -- error[RD001]: unexpected character
