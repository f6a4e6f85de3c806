-- GE4
-- check
-- error[PB003] at line 4: unbound
y + 1
