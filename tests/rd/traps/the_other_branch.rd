-- The branch that is not taken is neither evaluated nor traced.
-- run: tape, reference, transform
-- => 1
grad[2](x. if x < 3 then x else log(x - 10))
