-- A cotangent that is no list of calls.
-- run: fast, reference, translation
-- => 12
let phi = ((Ω λf:R -> R. sharp (((Ω f) · Ω [1]) 2)) · Ω [1]) (\x. x * x) in phi @ (\x. x^3)
