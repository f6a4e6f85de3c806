-- G27 grouping: <<1,2>,3> is <1,2,3>
-- check
-- => ok : R^3
-- run: fast, reference, translation
-- => <1, 2, 3>
<<1, 2>, 3>
