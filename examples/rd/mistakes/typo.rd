-- A misspelt name: Eddy shows the place and the name that was probably meant.
-- error[RD003] at line 6: unbound variable

let rate = 0.25 in
let slope = grad[3](w. w * w) in
3 - rate * solpe
