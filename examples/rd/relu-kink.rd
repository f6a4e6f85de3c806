-- ReLU at its kink has no derivative, and Eddy says so.
--
-- The slope is 0 to the left of 0 and 1 to the right. Many systems answer one of the two. Here the
-- test `0 < 0` is undefined, hence so is the program: the answer names the operation and its
-- arguments, and the exit code is 3. The built-in `relu`, `abs`, `max` and `min` behave likewise.
--
-- Paper: section 1. A predicate is continuous only if it is undefined where it would jump.
-- Try: any other point, however near to 0.
-- run: tape, reference, transform

let ramp(x:real):real = if x < 0 then 0 else x in
grad[0](ramp)
