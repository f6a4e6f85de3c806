-- check
\x. x x  -- error[PB005]: infinite
