//! Loops and branches.

use std::num::NonZeroUsize;

use eddy_body::tape::{Formula, Known, tape};
use eddy_body::{Checkpoints, Elem};
use expect_test::expect;

use super::{check, check_code};
use crate::harness::{Bodies, vector};

const WHILE: &str = "body f(x: num) -> (num) { c = const 100.0 ()
  y, n = while (y0 = x) { t = lt(y0, c) yield t } { y1 = mul(y0, x) yield y1 }
  yield y }";

#[test]
fn while_loops() {
    check(WHILE, &[5.0.into()]);
    check(WHILE, &[100.5.into()]);
    check_code(
        WHILE,
        expect![[r"
        body adj_f_2(x: num, dy: num) -> (num, num) {
          c = const 100.0 ()
          y, y0s, n = while (y0 = x) collect (y0) {
            t = lt(y0, c)
            yield t
          } {
            y1 = mul(y0, x)
            yield y1
          }
          c_13 = const 0.0 ()
          dy0_15, dx_14 = for j < n (dy0 = dy) acc (dx = c_13) {
            i_18 = reverse_index(n, j)
            y0_19 = index y0s [i_18]
            t_20 = mul(dy0, x)
            t_21 = mul(dy0, y0_19)
            add dx [] t_21
            yield t_20
          }
          t_22 = add(dx_14, dy0_15)
          yield y t_22
        }
    "]],
    );
}

#[test]
fn branches() {
    let text = "body f(x: num, y: num) -> (num) { t = lt(x, y)
        a, b = if t { p = mul(x, y) q = sin(p) yield q x } { r = exp(y) yield r y }
        z = mul(a, b) w = mul(z, a) yield w }";
    check(text, &[0.5.into(), 0.75.into()]);
    check(text, &[0.9.into(), 0.75.into()]);
    check_code(
        text,
        expect![[r"
        body adj_f_2(x: num, y: num, dy: num) -> (num, num, num) {
          t = lt(x, y)
          a, b, r_32 = if t {
            p = mul(x, y)
            q = sin(p)
            c_36 = const 0.0 ()
            yield q x c_36
          } {
            r = exp(y)
            yield r y r
          }
          z = mul(a, b)
          w = mul(z, a)
          t_11 = mul(dy, a)
          t_12 = mul(dy, z)
          t_13 = mul(t_11, b)
          t_14 = add(t_12, t_13)
          t_15 = mul(t_11, a)
          dx, dy_25 = if t {
            p_26 = mul(x, y)
            t_27 = cos(p_26)
            t_28 = mul(t_14, t_27)
            t_29 = mul(t_28, y)
            t_30 = add(t_15, t_29)
            t_31 = mul(t_28, x)
            yield t_30 t_31
          } {
            t_33 = mul(t_14, r_32)
            t_34 = add(t_15, t_33)
            c_35 = const 0.0 ()
            yield c_35 t_34
          }
          yield w dx dy_25
        }
    "]],
    );
}

#[test]
fn updates_in_a_loop() {
    let text = "body f(x: num[_], w: num) -> (num[_]) { n = size 0 (x) one = const 1 () zero = const 0 () m = sub(n, one)
        y = for i < m (y0 = x) {
          k = add(i, one) a = index y0 [i] b = mul(w, a) y1 = update y0 [k] b
          c = index y1 [k] y2 = increase y1 [zero] c
          yield y2 }
        yield y }";
    check(text, &[vector(&[1.0, 2.0, 3.0]), 2.0.into()]);
    check_code(
        text,
        expect![[r"
        body adj_f_2(x: num[_], w: num, dy: num[_]) -> (num[_], num[_], num) {
          n = size 0 (x)
          one = const 1 ()
          zero = const 0 ()
          m = sub(n, one)
          y, as = for i < m (y0 = x) collect (a) {
            k = add(i, one)
            a = index y0 [i]
            b = mul(w, a)
            y1 = update y0 [k] b
            c = index y1 [k]
            y2 = increase y1 [zero] c
            yield y2
          }
          c_26 = const 0.0 ()
          dy0_28, dw_27 = for j < m (dy0 = dy) acc (dw = c_26) {
            i_31 = reverse_index(m, j)
            a_32 = index as [i_31]
            k_33 = add(i_31, one)
            e_34 = index dy0 [zero]
            dy0_35 = increase dy0 [k_33] e_34
            e_36 = index dy0_35 [k_33]
            c_37 = const 0.0 ()
            dy0_38 = update dy0_35 [k_33] c_37
            t_39 = mul(e_36, a_32)
            add dw [] t_39
            t_40 = mul(e_36, w)
            dy0_41 = increase dy0_38 [i_31] t_40
            yield dy0_41
          }
          yield y dy0_28 dw_27
        }
    "]],
    );
}

#[test]
fn nested_loops_of_different_lengths() {
    let text = "body f(x: num, w: num, n: int) -> (num, num[_]) { c = const 3.0 () one = const 1 ()
        y, ys = for i < n (y0 = x) collect (y2) {
          m = add(i, one)
          a = for j < m (a0 = y0) { p = mul(a0, w) q = sin(p) yield q }
          b, k = while (b0 = a) { t = lt(b0, c) yield t } { b1 = add(b0, w) yield b1 }
          y1 = mul(b, a) y2 = tanh(y1)
          yield y2 }
        yield y ys }";
    check(text, &[0.5.into(), 0.9.into(), 4.into()]);
    check(text, &[0.5.into(), 0.9.into(), 0.into()]);
}

/// Sizes that are checked first, and those of states, need no sums down to a shape. The vector state is read
/// as a whole, so it is collected, and so is the function value.
#[test]
fn vectors_in_a_loop_whose_sizes_are_known() {
    let text = "body f(h: num[_], w: num[_], steps: int) -> (num) {
        b = size 0 (h) m = size 0 (w) check_size(m, b)
        y = for i < steps (h0 = h) { p = mul(h0, w) h1 = tanh(p) yield h1 }
        s = sum(y) yield s }";
    check(text, &[vector(&[0.5, -0.25]), vector(&[0.75, 1.5]), 3.into()]);
    check_code(
        text,
        expect![[r"
            body adj110_f(h: num[_], w: num[_], steps: int, dy: num) -> (num, num[_], num[_]) {
              b = size 0 (h)
              m = size 0 (w)
              check_size(m, b)
              y, h1s, h0s = for i < steps (h0 = h) collect (h1, h0) {
                p = mul(h0, w)
                h1 = tanh(p)
                yield h1
              }
              s = sum(y)
              t = size 0 (h)
              t_13 = broadcast(dy, t)
              t_22 = zeros_like(w)
              dh0_24, dw_23 = for j < steps (dh0 = t_13) acc (dw = t_22) {
                i_28 = reverse_index(steps, j)
                h1_29 = index h1s [i_28]
                h0_30 = index h0s [i_28]
                c_31 = const 1.0 ()
                t_32 = mul(h1_29, h1_29)
                t_33 = sub(c_31, t_32)
                t_34 = mul(dh0, t_33)
                t_35 = mul(t_34, w)
                t_36 = mul(t_34, h0_30)
                add dw [] t_36
                yield t_35
              }
              yield s dh0_24 dw_23
            }
        "]],
    );
}

/// A loop keeps the requested number of states, and runs the iterations between them again.
#[test]
fn loops_in_segments_keep_few_states() {
    let squares = "body f(n: int, x: num) -> (num) {
      y = for i < n (y0 = x) { t = mul(y0, y0) s = sin(t) yield s } yield y }";
    for (text, all, some) in [
        (WHILE, "8 B per iteration of 0..0 (unbounded)", "24 B + 8 / 3 B per iteration of 0..0 (unbounded)"),
        (squares, "8 * n B", "8 * (n div 3) + 32 B"),
    ] {
        let keep = NonZeroUsize::new(3).expect("it is positive");
        for (checkpoints, expected) in [(Checkpoints::All, all), (Checkpoints::Keep(keep), some)] {
            let module = Bodies::keeping(text, &["adj"], checkpoints).expect("it verifies").module;
            let adjoint = module.find("adj_f").expect("it was added");
            let known: Vec<Known> = module
                .body(adjoint)
                .params
                .iter()
                .map(|param| match param.ty.elem {
                    Elem::Int => Known::int(Formula::named("n")),
                    _ => Known::default(),
                })
                .collect();
            let found = tape(&module, adjoint, &known, 1).expect("it verifies");
            let shown = found.show(&|span| format!("{}..{}", span.start, span.end));
            assert_eq!(shown, expected, "{module}");
        }
    }
}
