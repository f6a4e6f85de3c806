-- G16 of the specification: paper, section 2: forward mode from reverse mode.
-- run: tape, reference, transform
-- => (12, 15)
3.fd[2](x:real. (x * x, 5 * x))
