-- ReLU, the ramp of neural networks: 0 on the left, x on the right.
--
-- Only the branch that is taken is differentiated. That is right at every point where the program
-- has a value, because `x < 0` is undefined at x = 0, where the two branches meet.
--
-- Paper: section 1, the partial twin of ReLU.
-- Try: relu-kink.rd asks for the derivative at 0; relu-clarke.rd gets an answer there.
-- run: tape, reference, transform

let ramp(x:real):real = if x < 0 then 0 else x in
((ramp(-2), grad[-2](ramp)), (ramp(4), grad[4](ramp)))
