-- GE3
-- check
-- error[PB005] at line 4: infinite
\x. x x
