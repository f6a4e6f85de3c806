-- run: fast, reference, translation
-- => 9
(\<x, y>:R^2 . x * y) <3, 3>
