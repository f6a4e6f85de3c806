-- check
let a = <1, 1> in
let b = <a, a> in
let c = (zero : R^1000000) in
<c, c>  -- error[PB012]: range
