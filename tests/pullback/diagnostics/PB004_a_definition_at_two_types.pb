-- check
def id = \x. x;
<id 1, id <1, 2>>  -- error[PB004]: mismatch
