-- G14 rule 12/20b with an unused component
-- check
-- => ok : (R^3)^*
-- run: fast, reference, translation
-- => [0, 0, 7]^*
jacobian (\<x,y,z>:R^3. let c = 7 in c * z) at <1,2,3>
