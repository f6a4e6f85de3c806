-- Figure 4, reverse phase: the covector [1] is pulled back along one elementary function after the other.
-- run: fast, reference, translation
-- => <[44]^*, [484, 88]^*, [660, 528]^*>
prim g(x, y) = <x + 1, 2*x + y^2>;
let third = (λv. (J pow2 · v) 22)^* · [1]^* in
let second = (λv. (J mult · v) <2,11>)^* · third in
let first = (λv. (J g · v) <1,3>)^* · second in
<third, second, first>
