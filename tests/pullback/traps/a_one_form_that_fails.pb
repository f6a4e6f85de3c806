-- What depends on the variable by its form asks the 1-form, even if its derivative is 0.
-- run: fast, reference, translation
((Ω λx:R. x * 0) · (\y:R. (log y)^*)) 2  -- error[PB013]: domain
