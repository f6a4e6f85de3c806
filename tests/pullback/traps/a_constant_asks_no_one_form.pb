-- Rule 9 discards the 1-form, which would fail.
-- run: fast, reference, translation
-- => <[0]^*, [0]^*>
<((Ω λx:R. 5) · (\y:R. (log (y - y))^*)) 2, ((Ω λx:R. let a = x * x in 5) · (\y:R. (log (y - y))^*)) 2>
