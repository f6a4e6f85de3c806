-- ReLU at its kink with an answer: all slopes between those of the two sides.
--
-- Under `use clarke` the final derivative of a program follows both branches at a tie and reports
-- the smallest interval that holds all derivatives it finds. For one kink this is the Clarke
-- subgradient. All comparisons are allowed, `<=` and `==` too.
--
-- Paper: section 7, which proposes Clarke subgradients and gives [0, 1] for ReLU at 0.
-- Try: the branches 0 and x + 1, which do not meet: `undefined: jump`.
-- run: tape, reference

use clarke
let ramp(x:real):real = if x <= 0 then 0 else x in
grad[0](ramp)
