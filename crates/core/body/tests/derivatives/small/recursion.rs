//! Recursive bodies.

use eddy_tensor::{Data, Shape, Value};
use expect_test::expect;

use super::{check, check_code};
use crate::harness::Bodies;

#[test]
fn a_recursion_whose_adjoint_is_one_call() {
    let text = "body f(x: num, n: int) -> (num) { z = const 0 () t = eq(n, z)
        y = if t { u = const 1.0 () yield u } { o = const 1 () m = sub(n, o) r = call f(x, m) p = mul(x, r) yield p }
        yield y }";
    check(text, &[2.0.into(), 5.into()]);
    check(text, &[2.0.into(), 0.into()]);
    check_code(
        text,
        expect![[r"
        body adj10_f(x: num, n: int, dy: num) -> (num, num) {
          z = const 0 ()
          t = eq(n, z)
          y, dx_16 = if t {
            u = const 1.0 ()
            c = const 0.0 ()
            yield u c
          } {
            o = const 1 ()
            m = sub(n, o)
            t_12 = mul(dy, x)
            r, dx = call adj10_f(x, m, t_12)
            p = mul(x, r)
            t_11 = mul(dy, r)
            t_14 = add(t_11, dx)
            yield p t_14
          }
          yield y dx_16
        }
    "]],
    );
}

const SINES: &str = "body f(x: num, n: int) -> (num) { z = const 0 () t = eq(n, z)
    y = if t { yield x } { o = const 1 () m = sub(n, o) r = call f(x, m) p = sin(r) q = mul(p, x) yield q }
    yield y }";

#[test]
fn a_recursion_whose_adjoint_needs_a_tape() {
    check(SINES, &[2.0.into(), 5.into()]);
    check_code(
        SINES,
        expect![[r"
        body adj10_f(x: num, n: int, dy: num) -> (num, num) {
          z = const 0 ()
          t = eq(n, z)
          y, dx_18 = if t {
            yield x dy
          } {
            o = const 1 ()
            m = sub(n, o)
            r, tape_16 = call fwd10_f(x, m)
            p = sin(r)
            q = mul(p, x)
            t_11 = mul(dy, x)
            t_12 = mul(dy, p)
            t_13 = cos(r)
            t_14 = mul(t_11, t_13)
            dx = call rev10_f(tape_16, t_14)
            t_17 = add(t_12, dx)
            yield q t_17
          }
          yield y dx_18
        }
        body fwd10_f(x: num, n: int) -> (num, tape) {
          z = const 0 ()
          t = eq(n, z)
          y, tape_19, r_20, p_21 = if t {
            t_28 = pack()
            c = const 0.0 ()
            c_30 = const 0.0 ()
            yield x t_28 c c_30
          } {
            o = const 1 ()
            m = sub(n, o)
            r, tape_16 = call fwd10_f(x, m)
            p = sin(r)
            q = mul(p, x)
            yield q tape_16 r p
          }
          tape_31 = pack(x, t, tape_19, r_20, p_21)
          yield y tape_31
        }
        body rev10_f(tape_31: tape, dy: num) -> (num) {
          x, t, tape_19, r_20, p_21 = unpack (num, bool, tape, num, num) tape_31
          dx_18 = if t {
            yield dy
          } {
            t_22 = mul(dy, x)
            t_23 = mul(dy, p_21)
            t_24 = cos(r_20)
            t_25 = mul(t_22, t_24)
            dx_26 = call rev10_f(tape_19, t_25)
            t_27 = add(t_23, dx_26)
            yield t_27
          }
          yield dx_18
        }
    "]],
    );
}

/// A fused adjoint and one with a tape, both as deep as the limit allows.
#[test]
fn deep_recursions_have_gradients() {
    let bodies = Bodies::new(SINES, &["adj"]).expect("it expands");
    let results = bodies.run("adj_f", &[1.0.into(), 900_000.into(), 1.0.into()]).expect("it has a value");
    assert!(results[1].is_finite());
}

#[test]
fn a_determinant_by_recursion() {
    // The columns that are left are bits of a number.
    let text = "body f(A: num[_,_], row: int, mask: int) -> (num) { n = size 0 (A) t = eq(row, n) zero = const -0.0 () one = const 1 ()
        z = if t { u = const 1.0 () yield u } {
          zi = const 0 () two = const 2 () sign0 = const 1.0 ()
          next = add(row, one)
          s = each j < n acc (a = zero) {
            w, sign = for k < j (p = one, s1 = sign0) { q = mul(p, two)
              h1 = int_div(mask, p) b1 = int_mod(h1, two) used = ne(b1, zi) m1 = neg(s1) s2 = where(used, s1, m1)
              yield q s2 }
            h = int_div(mask, w) b = int_mod(h, two) free = eq(b, zi)
            if free {
              e = index A [row, j] m2 = add(mask, w)
              d = call f(A, next, m2) p2 = mul(sign, e) p3 = mul(p2, d)
              add a [] p3
              yield } { yield }
            yield }
          yield s }
        yield z }";
    let matrix =
        Value::new(Shape::new(&[3, 3]), Data::Num(vec![2.0, 1.0, 0.5, 4.0, 5.0, -1.0, 0.25, 3.0, 2.5]));
    let matrix = matrix.expect("nine elements");
    let bodies = Bodies::new(text, &["adj"]).expect("it expands");
    let arguments = [matrix.clone(), 0.into(), 0.into(), 1.0.into()];
    let results = bodies.run("adj_f", &arguments).expect("it has a value");
    assert_eq!(results[0], Value::Num(26.125));
    check(text, &[matrix, 0.into(), 0.into()]);
    check_code(
        text,
        expect![[r"
        body adj100_f(A: num[_,_], row: int, mask: int, dy: num) -> (num, num[_,_]) {
          n = size 0 (A)
          t = eq(row, n)
          zero = const -0.0 ()
          one = const 1 ()
          z, dA_43 = if t {
            u = const 1.0 ()
            t_42 = zeros_like(A)
            yield u t_42
          } {
            zi = const 0 ()
            two = const 2 ()
            sign0 = const 1.0 ()
            next = add(row, one)
            t_40 = zeros_like(A)
            s, dA_41 = each j < n acc (a = zero, dA = t_40) {
              w, sign = for k < j (p = one, s1 = sign0) {
                q = mul(p, two)
                h1 = int_div(mask, p)
                b1 = int_mod(h1, two)
                used = ne(b1, zi)
                m1 = neg(s1)
                s2 = where(used, s1, m1)
                yield q s2
              }
              h = int_div(mask, w)
              b = int_mod(h, two)
              free = eq(b, zi)
              if free {
                e = index A [row, j]
                m2 = add(mask, w)
                p2 = mul(sign, e)
                t_37 = mul(dy, p2)
                d = call adj100_f_2(A, next, m2, t_37, dA)
                p3 = mul(p2, d)
                add a [] p3
                t_36 = mul(dy, d)
                t_38 = mul(t_36, sign)
                add dA [row, j] t_38
                yield
              } {
                yield
              }
              yield
            }
            yield s dA_41
          }
          yield z dA_43
        }
        body adj100_f_2(A: num[_,_], row: int, mask: int, dy: num, acc dA: num[_,_]) -> (num) {
          n = size 0 (A)
          t = eq(row, n)
          zero = const -0.0 ()
          one = const 1 ()
          z = if t {
            u = const 1.0 ()
            yield u
          } {
            zi = const 0 ()
            two = const 2 ()
            sign0 = const 1.0 ()
            next = add(row, one)
            s = each j < n acc (a = zero) {
              w, sign = for k < j (p = one, s1 = sign0) {
                q = mul(p, two)
                h1 = int_div(mask, p)
                b1 = int_mod(h1, two)
                used = ne(b1, zi)
                m1 = neg(s1)
                s2 = where(used, s1, m1)
                yield q s2
              }
              h = int_div(mask, w)
              b = int_mod(h, two)
              free = eq(b, zi)
              if free {
                e = index A [row, j]
                m2 = add(mask, w)
                p2 = mul(sign, e)
                t_38 = mul(dy, p2)
                d = call adj100_f_2(A, next, m2, t_38, dA)
                p3 = mul(p2, d)
                add a [] p3
                t_37 = mul(dy, d)
                t_39 = mul(t_37, sign)
                add dA [row, j] t_39
                yield
              } {
                yield
              }
              yield
            }
            yield s
          }
          yield z
        }
    "]],
    );
}

/// `d(n, x)` is the n-th derivative of `x⁴`, by a recursion through its own derivative.
#[test]
fn a_recursion_through_its_own_derivative() {
    let text = "body d(n: int, x: num) -> (num) { z = const 0 () t = eq(n, z) one = const 1.0 ()
          y = if t { a = mul(x, x) b = mul(a, a) yield b } { v, g = adj lower(n, x, one) yield g }
          yield y }
        body lower(n: int, x: num) -> (num) { o = const 1 () m = sub(n, o) y = call d(m, x) yield y }
        body f(n: int, x: num) -> (num) { y = call d(n, x) yield y }";
    let marked = eddy_body::parse(text).expect("it parses");
    let module = eddy_body::expand(&marked, 4).expect("it expands");
    let program = eddy_body::Program::new(&module).expect("it verifies");
    let run = |n: i64| {
        program.run(module.find("f").expect("f"), &[n.into(), 1.5.into()], &eddy_body::Limits::default())
    };
    let values: Vec<f64> =
        (0..5).map(|n| crate::harness::nums(&run(n).expect("it has a value"))[0]).collect();
    assert_eq!(values, [5.0625, 13.5, 27.0, 36.0, 24.0]);
    let error = run(5).expect_err("that is too high");
    assert_eq!(error.failure.to_string(), "the derivative order is too high");
}
