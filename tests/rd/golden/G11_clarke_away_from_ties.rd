-- G11 of the specification: clarke away from ties.
-- run: tape, reference
-- => 6
use clarke grad[3](x. relu(x) * x)
