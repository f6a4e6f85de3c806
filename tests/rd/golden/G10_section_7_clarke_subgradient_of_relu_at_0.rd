-- G10 of the specification: paper, section 7: Clarke subgradient of ReLU at 0.
-- run: tape, reference
-- => [0, 1]
use clarke grad[0](x. relu(x))
