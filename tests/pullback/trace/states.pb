-- The whole state after each step.
-- trace --states
((Ω λx:R. x * x) · Ω [1]) 3
