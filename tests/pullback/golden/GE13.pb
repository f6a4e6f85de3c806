-- GE13
-- run: fast, reference, translation
-- error[PB014] at line 5: no main
def f (x:R) = x;
