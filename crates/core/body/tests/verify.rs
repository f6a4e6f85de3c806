//! Modules that verification refuses, and the reasons.

use eddy_body::{Module, own, parse, verify, verify_final};

fn module(text: &str) -> Module {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The statements in a body with a scalar, a vector and a count are refused with this message.
#[track_caller]
fn check(stmts: &str, message: &str) {
    let text = format!("body f(x: num, v: num[_], n: int) -> () {{ {stmts} yield }}");
    let error = verify(&module(&text)).expect_err("it is wrong");
    assert_eq!(error.to_string(), format!("body `f`, {message}"));
}

#[track_caller]
fn accept(stmts: &str) {
    let text = format!("body f(x: num, v: num[_], n: int) -> () {{ {stmts} yield }}");
    verify(&module(&text)).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn names_are_defined_once_and_before_use() {
    check("y = sin(z)", "`y`: `z` is used before it is defined");
    check("y = sin(x) y = cos(x)", "`y`: `y` is defined twice");
    check("x = sin(n)", "`x`: sin operand 1 has the wrong kind of elements");
    check("y = each i < n { z = sin(x) yield z } w = cos(z)", "`w`: `z` is used outside of its region");
    check("s = for i < n (s0 = x) { yield s0 } t = sin(s0)", "`t`: `s0` is used outside of its region");
}

#[test]
fn types_and_ranks_fit() {
    check("y = add(x, n)", "`y`: add operand 2 has the wrong kind of elements");
    check("y = matmul(x, v)", "`y`: matmul the ranks of the operands do not fit");
    check("y = sum 1 (v)", "`y`: sum the ranks of the operands do not fit");
    check("y = size 1 (v)", "`y`: size there is no axis 1");
    check("y = sin(x, x)", "`y`: sin needs 1 operands, not 2");
    check("y, z = sin(x)", "`y`: there are 1 results, not 2");
    check("y = index v [n, n]", "`y`: 2 selectors for 1 axes");
    check("y = index v [x]", "`y`: an index must be an int");
    check("y = fill(x, x)", "`y`: fill operand 1 must be an int");
    check("check_size(n, x)", "`check_size`: check_size operand 2 must be an int");
    check("y = unpack (num) n", "`y`: only a tape can be unpacked");
    accept("y = add(x, v) z = sum 0 (y) w = index v [n..n]");
}

#[test]
fn regions_yield_what_is_expected() {
    check("y = if n { yield x } { yield x }", "`y`: a condition is a bool");
    check("t = lt(x, x) y = if t { yield x } { yield v }", "`y`: the branches yield different types");
    check("y = for i < x (s = v) { yield s }", "`y`: a count is an int");
    check("y = for i < n (s = v) { yield x }", "`y`: what the loop yields does not fit its states");
    check("y, k = while (s = x) { yield s } { yield s }", "`y`: a condition yields one bool");
    accept(
        "t = lt(x, x) y = if t { yield x } { z = sin(x) yield z } r, k = while (s = x) { yield t } { yield s }",
    );
}

#[test]
fn what_is_changed_is_owned_and_not_used_again() {
    check("y = update v [n] x", "`y`: `v` is not owned here and cannot be changed: copy it");
    check(
        "c = const num [1] { 1.0 } () y = update c [n] x",
        "`y`: `c` is not owned here and cannot be changed: copy it",
    );
    check(
        "c = copy(v) y = update c [n] x z = sum(c)",
        "`z`: `c` is used after it was given away to be changed",
    );
    let in_loop = "c = copy(v) y = each i < n { d = update c [i] x yield x }";
    check(in_loop, "`d`: `c` is not owned here and cannot be changed: copy it");
    let in_branch = "c = copy(v) t = lt(x, x) y = if t { d = update c [n] x yield d } { yield v } z = sum(c)";
    check(in_branch, "`z`: `c` is used after it was given away to be changed");
    check("c = copy(v) y = increase c [n..n] c", "`y`: `c` is changed and read at once");
    check(
        "g = const int [1] { 0 } () c = copy(v) p = index v [g] y = update c [g] p",
        "`y`: an update has single indices and ranges only",
    );
    accept("c = copy(v) y = update c [n] x z = update y [n] x");
    accept("c = copy(v) t = lt(x, x) y = if t { d = update c [n] x yield d } { e = update c [n] x yield e }");
    accept("y = for i < n (s = v) { t = update s [i] x yield t }");
}

#[test]
fn accumulators_are_added_to_and_nothing_else() {
    check("y, s = each i < n acc (a = x) { z = sin(a) yield z }", "`z`: the accumulator `a` is read");
    check("add x [] x", "`add x`: `x` is no accumulator here");
    check(
        "s = each i < n acc (a = x) { add a [] n yield }",
        "`add a`: the value does not have the type of its place",
    );
    check(
        "s = each i < n acc (a = v) { add a [i] x yield }",
        "`s`: `v` is not owned here and cannot be changed: copy it",
    );
    check("t = lt(x, x) s = each i < n acc (a = t) { yield }", "`s`: only int and num can be added");
    accept(
        "c = copy(v) s = each i < n acc (a = c) { add a [i] x  r = for j < i (q = n) { add a [j] x yield q } yield } z = sum(s)",
    );
}

#[test]
fn calls_pass_what_is_declared() {
    let g = "body g(acc a: num[_], x: num, i: int) -> (num) { add a [i] x yield x }";
    let with =
        |call: &str| module(&format!("{g} body f(x: num, v: num[_], i: int) -> () {{ {call} yield }}"));
    let refused = |call: &str| verify(&with(call)).expect_err("it is wrong").message;
    assert_eq!(refused("y = call g(v, x, i)"), "`v` is no accumulator here");
    assert_eq!(refused("y = call g(v, x)"), "`g` needs 3 arguments, not 2");
    assert_eq!(
        refused("y, d = adj g(v, x, i, x)"),
        "a derivative of a body with accumulators cannot be marked"
    );
    let right = "c = copy(v) s = each j < i acc (a = c) { y = call g(a, x, j) yield }";
    assert!(verify(&with(right)).is_ok());
}

#[test]
fn a_final_module_has_no_marks() {
    let marked = module(
        "body g(x: num) -> (num) { yield x } body f(x: num) -> (num, num) { y, d = adj g(x, x) yield y d }",
    );
    assert!(verify(&marked).is_ok());
    let error = verify_final(&marked).expect_err("there is a mark");
    assert_eq!(error.to_string(), "body `f`, `y`: a final body has no derivative marks");
}

#[test]
fn custom_derivatives_have_the_interface_of_synthesised_ones() {
    let text = |params: &str| {
        format!(
            "body g(x: num, n: int) -> (num) {{ yield x }}
        body h({params}) -> (num, num) {{ yield x x }} custom adj g = h"
        )
    };
    assert!(verify(&module(&text("x: num, n: int, d: num"))).is_ok());
    let error = verify(&module(&text("x: num, d: num"))).expect_err("a parameter is missing");
    assert_eq!(error.message, "is no custom derivative of `g`: its interface differs");
}

#[test]
fn deep_regions_are_refused() {
    let mut inner = "yield ".to_owned();
    for _ in 0..199 {
        inner = format!("if t {{ {inner} }} {{ yield }} yield");
    }
    let text = |inner: &str| format!("body f(t: bool) -> () {{ {inner} }}");
    assert!(verify(&module(&text(&inner))).is_ok());
    assert!(parse(&text(&format!("if t {{ {inner} }} {{ yield }} yield"))).is_err());
}

#[test]
fn copies_make_any_module_right() {
    let text = "body f(x: num[_], n: int) -> (num[_], num[_]) { z = const 1.0 ()
        y = update x [n] z  w = update y [n] z
        s = for i < n (s0 = y) { a = update s0 [i] z  b = update y [i] z  c = add(a, b)  yield c }
        q = each j < n acc (t = w) { add t [] y  yield }
        yield s q }";
    let mut module = module(text);
    assert!(verify(&module).is_err());
    own::own(&mut module);
    verify(&module).unwrap_or_else(|error| panic!("{error}\n{module}"));
    // One for the parameter, one for `y` which is needed later, one for `y` in the loop.
    assert_eq!(module.to_string().matches("copy(").count(), 3, "{module}");
}
