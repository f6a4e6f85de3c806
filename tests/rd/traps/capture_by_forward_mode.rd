-- `fd` brings its own variable, which is not the user's y.
-- run: tape, reference, transform
-- => 14
let y = 7 in 2.fd[3](x. x * y)
