-- check
let R = 1 in 2  -- error[PB011]: parse
