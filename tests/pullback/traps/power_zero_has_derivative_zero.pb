-- run: fast, reference, translation
-- => <0, 1>
<grad (\x:R. x^0) at 0, grad (\x:R. x^1) at 0>
