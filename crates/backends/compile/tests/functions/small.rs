//! Small functions: loops, memory and recursion.

use eddy_body::{BodyId, Limits, own, parse};
use eddy_tensor::{Data, Shape, Value};

use crate::joined::Both;

fn both(text: &str) -> Both {
    let mut module = parse(text).unwrap_or_else(|error| panic!("{error}"));
    own::own(&mut module);
    Both::new(module)
}

#[test]
fn deep_recursion_ends_with_the_depth() {
    let text = "body f(n: int) -> (int) { z = const 0 () one = const 1 () c = eq(n, z)
        r = if c { yield z } { m = sub(n, one) q = call f(m) s = add(q, one) yield s } yield r }";
    let both = both(text);
    let limits = Limits::default();
    let at = |n: i64| -> [Value; 1] { [n.into()] };
    let id = BodyId::new(0);
    assert_eq!(both.check(id, &at(999_999), &limits).expect("deep, but not too deep"), [999_999.into()]);
    both.check(id, &at(-1), &limits).expect_err("it never ends");
    for (depth, n) in [(0, 0), (0, 1), (5, 5), (5, 6)] {
        let ended = both.check(id, &at(n), &Limits { depth, ..Limits::default() });
        assert_eq!(ended.is_ok(), usize::try_from(n).expect("small") <= depth);
    }
}

/// Edge cases of loops: no iterations, rows of different sizes, states that swap places, tensors that grow.
#[test]
fn loops_behave_as_in_the_interpreter() {
    let text = "
    body rows(n: int, x: num, v: num[_]) -> (num[_, _]) { r = each i < n { t = fill(x, i) yield t } yield r }
    body matrix(n: int, x: num, v: num[_]) -> (num[_, _], int, int) {
      r = each i < n { w = mul(v, x) q = to_num(i) u = add(w, q) yield u }
      a = size 0 (r) b = size 1 (r) yield r a b }
    body nested(n: int, x: num, v: num[_]) -> (num[_, _], num[_], num) {
      r = each i < n { s = each j < n { p = mul(i, j) q = to_num(p) y = mul(q, x) yield y } yield s }
      z = const -0.0 ()
      u, t = each k < n acc (c = z) { es = each l < n { e = index r [k, l] add c [] e yield e } f = sum(es) yield f }
      yield r u t }
    body swap(n: int, x: num, v: num[_]) -> (num[_], num[_], num, int) {
      w = mul(v, x) k0 = const 0 ()
      a, b, c, d = for i < n (p = v, q = w, y = x, k = k0) { z = update q [k0] y t = add(k, i) yield z p y t }
      yield a b c d }
    body place(n: int, x: num, v: num[_]) -> (num[_], num[_]) {
      m = size 0 (v) two = const 2 ()
      r = for i < n (y = v) { j = int_mod(i, m) h = int_mod(i, two) c = lt(h, j)
        s = if c { t = update y [j] x yield t } { yield y }
        e = index s [j] f = add(e, x) u = update s [j] f yield u }
      yield r v }
    body inner(n: int, x: num, v: num[_]) -> (num[_]) {
      r = for i < n (y = v) { q = for j < n (w = y) { m = size 0 (w) k = int_mod(j, m) u = update w [k] x yield u } yield q }
      yield r }
    body grow(n: int, x: num, v: num[_]) -> (num, num[_], num[_], num[_, _], int) {
      one = const 1 () zero = const 0 ()
      y, w1, i1, ys, ws, k = while (a = x, w = v, i = zero) collect (a, u) { c = lt(i, n) yield c } {
        b = sin(a) u = add(w, b) j = add(i, one) yield b u j }
      yield y w1 ys ws k }
    body overlap(n: int, x: num, v: num[_]) -> (num[_], num[_], num[_]) {
      w = mul(v, x) zero = const 0 () one = const 1 () u = index w [zero..one] yield u w u }
    ";
    let both = both(text);
    let vector = |n: usize| -> Value {
        let elements = [0.5, -1.5, 2.25, 4.0, 0.125];
        Value::new(Shape::new(&[n]), Data::Num(elements[..n].to_vec())).expect("as many")
    };
    for id in 0..both.module.bodies.len() {
        for n in [-3_i64, 0, 1, 2, 3, 40] {
            for size in [0, 1, 4] {
                let arguments = [n.into(), 0.75.into(), vector(size)];
                for fuel in [None, Some(0), Some(2), Some(7)] {
                    let _ = both.check(BodyId::new(id), &arguments, &Limits { fuel, ..Limits::default() });
                }
            }
        }
    }
}

/// A loop whose iterations allocate tensors needs the memory of one iteration; a smaller limit ends the run.
#[test]
fn loops_release_their_temporaries() {
    let text = "body f(n: int, v: num[_]) -> (num[_]) {
        r = for i < n (w = v) { a = mul(w, w) b = sin(a) c = add(b, w) yield c } yield r }";
    let both = both(text);
    let v = Value::new(Shape::new(&[1000]), Data::Num(vec![0.25; 1000])).expect("as many");
    // Three temporaries, the state, and the copy of the result: 40 kB; without release 24 MB.
    let arguments = [1000.into(), v];
    let limits = |memory| Limits { memory: Some(memory), ..Limits::default() };
    both.compiled(BodyId::new(0), &arguments, &limits(100_000)).expect("there is room");
    let error = both.compiled(BodyId::new(0), &arguments, &limits(20_000)).expect_err("there is no room");
    assert_eq!(error.failure, eddy_body::Failure::Memory);
}
