-- Addition at a product type names its operands; copies would double at each line.
-- run: tape, reference, transform
-- => (1099511627776, 2199023255552)
let a = (1, 2) in
let b = a + a in let c = b + b in let d = c + c in let e = d + d in
let f = e + e in let g = f + f in let h = g + g in let i = h + h in
let b = i + i in let c = b + b in let d = c + c in let e = d + d in
let f = e + e in let g = f + f in let h = g + g in let i = h + h in
let b = i + i in let c = b + b in let d = c + c in let e = d + d in
let f = e + e in let g = f + f in let h = g + g in let i = h + h in
let b = i + i in let c = b + b in let d = c + c in let e = d + d in
let f = e + e in let g = f + f in let h = g + g in let i = h + h in
let b = i + i in let c = b + b in let d = c + c in let e = d + d in
let f = e + e in let g = f + f in let h = g + g in let i = h + h in
i
