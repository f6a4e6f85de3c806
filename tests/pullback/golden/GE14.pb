-- GE14
-- check
-- error[PB004] at line 4: mismatch
3 4
