-- G15 rule 16: dual maps inside a differentiated body (y in the map and in the covector)
-- check
-- => ok : (R^2)^*
-- run: fast, reference, translation
-- => [21, 16]^*
jacobian (\<a,b>:R^2. sharp ((λx:R. (J mult · <x,x>) <a,b>)^* · ((a*b)^*))) at <2,3>
