-- run
def f (x : R) = sqrt x;
grad f at 0  -- error[PB013]: domain
