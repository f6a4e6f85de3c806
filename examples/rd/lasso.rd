-- A subgradient as a certificate: is w = 0 the best weight?
--
-- The lasso penalises error and size. The size |w| has its kink at 0, exactly where the answer
-- often is. A convex function is least where its subgradient contains 0. The interval printed here
-- does, so 0 is the best weight: the feature is not worth its penalty.
--
-- Paper: section 7 (Clarke subgradients); the application is ours.
-- Try: the penalty 0.125; then the interval does not contain 0, and the minimum is elsewhere.
-- run: tape, reference

use clarke
const target = 0.25 in
const penalty = 1 in
let loss(w:real):real = 0.5 * (w - target)^2 + penalty * abs(w) in
grad[0](loss)
