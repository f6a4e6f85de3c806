-- G13 rules 10-13: sum, identity, projection, pair
-- check
-- => ok : (R^2)^* * (R^2)^* * (R^2)^* * ((R^2)^* * (R^2)^*)
-- run: fast, reference, translation
-- => <[1, 1]^*, [0, 1]^*, [1, 0]^*, <[1, 0]^*, [0, 1]^*>>
jacobian (\<x,y>:R^2. <x + y, y, x, <x,y>>) at <4,5>
