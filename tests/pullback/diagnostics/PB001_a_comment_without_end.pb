-- check
-- error[PB001] at line 3: parse
(* never closed
