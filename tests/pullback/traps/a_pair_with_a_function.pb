-- run: fast, reference, translation
-- => <12, 2, 14>
let phi = ((Ω λp:R * (R -> R). (snd p) (fst p)) · Ω [1]) <2, \z. z^3> in
<phi @ <1, zero>, phi @ <0, \z. z>, phi @ <1, \z. z>>
