-- Back-propagation by hand: the chain rule with cotangents.
--
-- To differentiate g(f(x)), compute the cotangent of g's input, and pass it to f as the cotangent of
-- its result. Eddy does this for every program, operation by operation, last one first.
--
-- Paper: section 4.1, equation (8).
-- Try: a third function in the chain.
-- run: tape, reference, transform

let f(x:real, y:real):real^2 = (x + y, x * y) in
let g(s:real, p:real):real = s * s - 4 * p in

let by_hand(point:real^2):real^2 = let cotangent = grad[f(point)](g) in cotangent.rd[point](f) in

-- g(f(x, y)) is (x - y)², so both are (2 (x - y), -2 (x - y)).
(by_hand(5, 2), grad[(5, 2)](point. g(f(point))))
