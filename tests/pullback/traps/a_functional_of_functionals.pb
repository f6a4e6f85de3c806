-- run: fast, reference, translation
-- => 25
let phi = ((Ω λq:(R -> R)^*. q @ (\x. x * x)) · Ω [1]) ((λu:R -> R. u 3)^* · [1]^*) in
phi @ ((λu:R -> R. u 5)^* · [1]^*)
