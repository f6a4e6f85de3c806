-- GE2
-- check
-- error[PB004] at line 4: mismatch
<1,2> + 3
