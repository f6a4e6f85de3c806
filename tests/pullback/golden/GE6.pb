-- GE6
-- run: fast, reference, translation
-- exit: 3
-- error[PB013] at line 5: domain
log (1 - 1)
