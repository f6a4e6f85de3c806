-- check
(\x. x x) 3  -- error[PB005]: infinite type
