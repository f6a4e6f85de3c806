-- An unknown directive.
-- check
use clark  -- error[RD013]: directive
grad[0](x. relu(x))
