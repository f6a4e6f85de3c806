-- check
def f = ;  -- error[PB002]: parse
def g = 2 + ;  -- error[PB002]: parse
f + g
