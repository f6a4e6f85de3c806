-- G08 of the specification: and is given its true derivative under clarke.
-- run: tape, reference
-- => 1
use clarke let g(x:real):real = if x == 0 then 0 else x in grad[0](g)
