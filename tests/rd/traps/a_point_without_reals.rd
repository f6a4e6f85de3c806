-- The derivative at `()` is `()`.
-- run: tape, reference, transform
-- => ()
5.rd[()](x:unit. 3)
