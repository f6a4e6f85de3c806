-- A comment without end.
-- check
-- error[RD001] at line 5: unterminated comment
1 +
(* this comment (* has an *) open end
