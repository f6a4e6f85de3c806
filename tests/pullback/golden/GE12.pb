-- GE12
-- check
-- error[PB001] at line 4: parse
(* never closed
