-- The last line is that of `run`.
-- trace
-- => undefined: lt at (0, 0)
grad[0](x. if x < 0 then 0 else x)
