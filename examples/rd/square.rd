-- A first derivative: how fast does x² grow at 3?
--
-- `grad[POINT](x. BODY)` is the derivative of the function x ↦ BODY at the point. Eddy takes no
-- finite difference: it applies the chain rule to the operations that BODY performs.
--
-- Paper: section 2, where `grad` is defined.
-- Try: the body x * x * x, or sin(x) / x. Then `eddy trace examples/rd/square.rd` shows the steps.
-- run: tape, reference, transform

grad[3](x. x * x)
