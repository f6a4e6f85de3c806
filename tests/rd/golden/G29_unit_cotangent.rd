-- G29 of the specification: unit cotangent.
-- run: tape, reference, transform
-- => (0, 0)
().rd[(1, 2)](p:real*real. let _q = log(fst(p)) in ())
