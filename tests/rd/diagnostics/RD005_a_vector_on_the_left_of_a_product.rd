-- A vector on the left of a product.
-- check
(1, 2) * 3  -- error[RD005]: expected real
