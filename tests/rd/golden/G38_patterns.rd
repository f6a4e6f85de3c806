-- G38 of the specification: patterns.
-- run: tape, reference, transform
-- => 7
let () = () in let <x:real> = 7 in x
