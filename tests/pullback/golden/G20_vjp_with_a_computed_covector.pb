-- G20 vjp with a computed covector
-- check
-- => ok : (R^2)^*
-- run: fast, reference, translation
-- => [31, 21]^*
def f = \<x,y>:R^2. <x*y, x + y>;
vjp f at <2,3> with <10, 1>^*
