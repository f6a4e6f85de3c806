-- trace
log (1 - 1)  -- error[PB013]: domain
