-- The first nested example of the paper's section 3: the inner derivative of `x + y` is 1, whatever `x` is.
-- check
-- => real
-- run: tape, reference, transform
-- => 1
1.rd[1](x:real. x * 1.rd[1](y:real. x + y))
