-- An operation as a function.
-- check
grad[2](sin)  -- error[RD009]: reserved
