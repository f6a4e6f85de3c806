-- Forward and reverse mode: the tangent of a function by `J` and its gradient by `Ω` agree.
-- run: fast, reference, translation
prim energy(q, p) = p^2 / 2 + 1 - cos (q);
def direction = <1, 2>;
def point = <0, 3>;

<(J energy · direction) point, (flat (grad energy at point)) @ direction>
