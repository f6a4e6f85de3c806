-- GE6
-- run: fast, reference, translation
-- error[PB013] at line 4: domain
log (1 - 1)
