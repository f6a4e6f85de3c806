-- Rows and columns of a Jacobian: reverse mode, and forward mode made from it.
--
-- (x + iy)² has the real part x² - y² and the imaginary part 2xy. At (2, 1) its Jacobian is
--
--     4  -2
--     2   4
--
-- `COTANGENT.rd[POINT](f)` multiplies it by a cotangent from the left, so (1, 0) gives row 0.
-- `TANGENT.fd[POINT](f)` multiplies it by a tangent from the right, so (1, 0) gives column 0.
--
-- Paper: section 2, `fd` as a nested `rd`, here written out in the last line.
-- Try: the tangent (3, 5), which gives 3 · column 0 + 5 · column 1.
-- run: tape, reference, transform

let square(x:real, y:real):real^2 = (x * x - y * y, 2 * x * y) in

(
  ((1, 0).rd[(2, 1)](square), (0, 1).rd[(2, 1)](square)),
  ((1, 0).fd[(2, 1)](square), (0, 1).fd[(2, 1)](square)),
  -- `w.rd[…](square)` is linear in w, so its derivative by w is the transposed Jacobian, transposed.
  (0, 1).rd[(0, 0)](w. w.rd[(2, 1)](square))
)
