-- A misspelt variable.
-- check
let weight = 2 in
let bias = 1 in
weigth * 3 + bias  -- error[RD003]: unbound variable
