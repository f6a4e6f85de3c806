-- run
-- error[PB014] at line 4: no main
def f (x : R) = x;
