-- Choices at ties.
-- run: transform
use clarke  -- error[RD014]: cannot be transformed
grad[0](x. relu(x))
