//! Loops over elements, single operations, and custom derivatives.

use eddy_tensor::{Data, Shape, Value};
use expect_test::expect;

use super::{check, check_code};
use crate::harness::{ALL, Bodies, vector};

#[test]
fn each_with_rows_and_sums() {
    let text = "body f(x: num[_], w: num) -> (num[_], num) { n = size 0 (x) zero = const -0.0 ()
        r, s = each i < n acc (a = zero) { e = index x [i] p = mul(e, w) q = tanh(p) add a [] q u = mul(q, e) yield u }
        yield r s }";
    check(text, &[vector(&[0.5, -1.0, 2.0]), 0.75.into()]);
    check(text, &[vector(&[]), 0.75.into()]);
    check_code(
        text,
        expect![[r"
        body adj_f_2(x: num[_], w: num, dy: num[_], dy_13: num) -> (num[_], num, num[_], num) {
          n = size 0 (x)
          zero = const -0.0 ()
          c_27 = const 0.0 ()
          t_28 = zeros_like(x)
          r, s, dw_29, dx_30 = each i < n acc (a = zero, dw = c_27, dx = t_28) {
            e = index x [i]
            p = mul(e, w)
            q = tanh(p)
            add a [] q
            u = mul(q, e)
            e_14 = index dy [i]
            t = mul(e_14, e)
            t_16 = mul(e_14, q)
            t_17 = add(t, dy_13)
            c = const 1.0 ()
            t_19 = mul(q, q)
            t_20 = sub(c, t_19)
            t_21 = mul(t_17, t_20)
            t_22 = mul(t_21, w)
            t_23 = add(t_16, t_22)
            t_24 = mul(t_21, e)
            add dw [] t_24
            add dx [i] t_23
            yield u
          }
          yield r s dx_30 dw_29
        }
    "]],
    );
}

#[test]
fn a_sum_whose_cotangent_depends_on_it() {
    let text = "body f(x: num[_], w: num) -> (num) { n = size 0 (x) zero = const -0.0 ()
        s = each i < n acc (a = zero) { e = index x [i] p = mul(e, w) q = exp(p) add a [] q yield }
        y = log(s) yield y }";
    check(text, &[vector(&[0.5, -1.0, 2.0]), 0.75.into()]);
    check_code(
        text,
        expect![[r"
        body adj_f_2(x: num[_], w: num, dy: num) -> (num, num[_], num) {
          n = size 0 (x)
          zero = const -0.0 ()
          qs, s = each i < n acc (a = zero) {
            e = index x [i]
            p = mul(e, w)
            q = exp(p)
            add a [] q
            yield q
          }
          y = log(s)
          t = div(dy, s)
          c = const 0.0 ()
          t_19 = zeros_like(x)
          dw_20, dx_21 = each i_23 < n acc (dw = c, dx = t_19) {
            q_24 = index qs [i_23]
            e_25 = index x [i_23]
            t_26 = mul(t, q_24)
            t_27 = mul(t_26, w)
            t_28 = mul(t_26, e_25)
            add dw [] t_28
            add dx [i_23] t_27
            yield
          }
          yield y dx_21 dw_20
        }
    "]],
    );
}

#[test]
fn gathers_and_ranges() {
    let text = "body f(x: num[_], v: num[_]) -> (num, num[_]) { ix = const int [3] { 2 0 2 } () one = const 1 () n = size 0 (x)
        g = index x [ix] p = mul(g, v) q = mul(p, p) s = sum(q)
        r = index x [one..n] c = copy(x) d = increase c [ix] p e = mul(d, d) t = sum(r) f0 = mul(e, t)
        yield s f0 }";
    check(text, &[vector(&[1.0, 10.0, 3.0]), vector(&[1.0, 2.0, 3.0])]);
}

/// Operations whose derivatives need sizes.
#[test]
fn operations_with_shapes() {
    let text = "body f(x: num[_], a: num[_,_], s: num) -> (num[_], num, num[_,_]) {
        one = const 1 () two = const 2 () three = const 3 () six = const 6 ()
        p = add(x, a) q = mul(p, s) m = mean(q) m1 = mean 1 (q) mx = max 0 (q) sm = softmax(q)
        k = matmul(a, x) tr = transpose(a) kk = matmul(tr, a) o = outer(k, x)
        c = concat(x, k, m1) pd = pad(k, one, six) st = stack(k, m1) st2 = mul(st, st)
        f1 = fill(m, two, three) f2 = mul(f1, a) rs = reshape(f2, six) rs2 = mul(rs, rs)
        sp = spread 1 (k, three) sp2 = mul(sp, sm) un = unfold 0 (x, two, one) un2 = mul(un, un)
        bc = broadcast(x, two, three) bc2 = mul(bc, sm) rd = reduce(bc2, three) sto = sum_to(sp2, x)
        w0 = sum(c) w1 = sum(pd) w2 = sum(st2) w3 = sum(rs2) w4 = sum(un2) w5 = sum(o) w6 = sum(mx)
        r1 = mul(w0, w1) r2 = mul(w2, w3) r3 = mul(w4, w6) r4 = mul(r1, r2)
        r5 = mul(r4, r3) r6 = mul(r5, w5) r8 = sin(r6) r9 = mul(rd, sto)
        yield r9 r8 kk }";
    let matrix =
        Value::new(Shape::new(&[2, 3]), Data::Num(vec![0.2, 1.0, 0.5, -0.4, 0.5, -1.0])).expect("six");
    check(text, &[vector(&[0.3, -0.5, 0.7]), matrix, 0.75.into()]);
}

#[test]
fn custom_derivatives_are_used_by_both_modes() {
    let text = |custom: &str| {
        format!("body clip(x: num) -> (num) {{ lo = const -1.0 () hi = const 1.0 () a = maximum(x, lo) b = minimum(a, hi) yield b }}
        body by_hand(x: num, d: num) -> (num, num) {{ y = call clip(x) c = const 0.1 () e = mul(c, d) yield y e }}
        body f(x: num) -> (num) {{ y = call clip(x) z = mul(y, x) yield z }}
        custom {custom} clip = by_hand")
    };
    for custom in ["adj", "tan"] {
        let bodies = Bodies::new(&text(custom), &ALL).unwrap_or_else(|error| panic!("{error}"));
        let at = |name: &str, x: f64| bodies.run(name, &[x.into(), 1.0.into()]).expect("it has a value");
        assert_eq!(at("adj_f", 0.5), [0.25.into(), 0.55.into()], "{custom}");
        assert_eq!(at("tan_f", 0.5), [0.25.into(), 0.55.into()], "{custom}");
    }
}

#[test]
fn nothing_passes_stop_gradient() {
    let text = "body f(x: num) -> (num) { s = stop_gradient(x) y = mul(x, s) yield y }";
    let bodies = Bodies::new(text, &ALL).expect("it expands");
    for name in ["adj_f", "tan_f"] {
        let results = bodies.run(name, &[3.0.into(), 1.0.into()]).expect("it has a value");
        assert_eq!(results, [9.0.into(), 3.0.into()]);
    }
}
