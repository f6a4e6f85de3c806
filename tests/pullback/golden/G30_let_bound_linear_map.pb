-- G30 let-bound linear map
-- check
-- => ok : (R^2)^*
-- run: fast, reference, translation
-- => [1, 11]^*
(λv:R^2. let <a,b> = v in <b, a + b>)^* · [10, 1]^*
