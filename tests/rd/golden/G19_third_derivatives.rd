-- G19 of the specification: third derivatives.
-- run: tape, reference, transform
-- => (1, 2)
(grad[0](a. grad[a](b. grad[b](c. exp(c)))), grad[1](a. grad[a](b. grad[b](c. log(c)))))
