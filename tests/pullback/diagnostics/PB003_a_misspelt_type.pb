-- check
type List = R -> R;
\x:Lst. x  -- error[PB003]: unbound
