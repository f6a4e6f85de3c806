-- Without a derivative there is nothing to trace.
-- trace
-- => = 3
1 + 2
