-- check
let point = 1 in piont  -- error[PB003]: unbound
