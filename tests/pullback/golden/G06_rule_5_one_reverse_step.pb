-- G06 rule 5: one reverse step
-- check
-- => ok : (R^2)^*
-- run: fast, reference, translation
-- => [484, 88]^*
(λv. (J mult · v) <2,11>)^* · [44]^*
