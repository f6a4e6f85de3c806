-- run: fast, reference, translation
-- => <11, 5, [2]^*>
let y = 10 in
let a = (\x:R. \y:R. x + y) y 1 in
let b = sharp (((Ω λx:R. (\y:R. x * y) 5) · Ω [1]) y) in
<a, b, ((λx:R. let y = x in y + y)^* · [1]^*)>
