//! The messages of section 7, each at the place of the error.

use crate::harness::{check, fails};

#[test]
fn custom_derivatives_have_the_interface_of_synthesised_ones() {
    let f = "fn f(x: num) -> num = x * x;\n";
    for derivative in [
        "fn adj_f(x: num, dy: num) -> num = dy;",
        "fn adj_f(x: num) -> (num, num) = (x, x);",
        "fn adj_f(x: num, dy: num [2]) -> (num, num) = (x, x);",
        "fn adj_f(x: num, dy: num) -> (num, num [1]) = (x, [x]);",
        "fn tan_f(x: num, k: int) -> (num, num) = (x, x);",
        "fn tan_f(x: int, tx: num) -> (num, num) = (tx, tx);",
        "fn adj_f(x, dy) = dy;",
        "fn adj_f(x: num, dy: num) -> (num, num, num) = (x, dy, dy);",
    ] {
        fails(&format!("{f}{derivative}\neval f(1.0);"), "2:4", "custom derivative");
        fails(&format!("{f}{derivative}\nconst c = f(1.0);\neval c;"), "2:4", "custom derivative");
    }
    let text = "fn f(g: (num) -> num, x: num) -> num = g(x);
                fn tan_f(g: (num) -> num, x: num, tx: num) -> (num, num) = (x, tx);
                eval f(\\x. x, 1.0);";
    fails(text, "2:20", "custom derivative");
}

#[test]
fn names_are_resolved_in_functions_that_nothing_calls() {
    fails("fn f(x) = y;", "1:11", "unknown variable");
    fails("fn f(x) = let a = 1 in a + (fold s = 0 for i < x do s + i + k);", "1:61", "unknown variable");
    fails("fn f(x) = sum(i < 3, j < k: i);", "1:26", "unknown variable");
    fails("fn f(x) = g(x);", "1:11", "unknown");
    fails("fn f(x: int, x: int) -> int = x;", "1:14", "defined twice");
    check(
        "fn f[n](x: num [n], g) = let {a, b = (c, _)} = g(n) in let h(y) = if y == 0 then a else h(y - 1) in
           [i < n, j < n if i < j: (let k = \\(p, q). p + q + i in k((c, j))) + zeros([n]) + adj_f(x, g)];
         eval 1;",
        &["1"],
    );
}

#[test]
fn function_values_stay_where_they_may_be() {
    for text in ["(\\x. x, 1)", "[\\x. x]", "\\x. x", "if true then sin else cos", "sin + 1", "{ a = sin }"] {
        fails(
            &format!("eval {text};"),
            &format!("1:{}", if text == "sin + 1" { 10 } else { 6 }),
            "function value",
        );
    }
    fails("eval fold f = sin for i < 3 do f;", "1:6", "function value");
}

#[test]
fn words_of_diagnostics() {
    for (text, place, words) in [
        ("eval let x = 3 in x(4);", "1:19", "not a function"),
        ("node n(x) -> (y) y = x;\neval n(1.0);", "2:6", "node"),
        ("eval 1 when true;", "1:8", "stream operator"),
        ("eval {a = 1}.b;", "1:14", "no field"),
        ("eval [i < 2, j < i: 1];", "1:6", "rectangular"),
        ("fn f[n](k: int) -> num = 1.0;", "1:6", "size"),
        ("type E = enum { a, b };\nfn f(e: E) -> int = match e { a: 1 };", "2:21", "no case"),
        ("fn f(x: qux) -> num = x;", "1:9", "unknown type"),
        ("const a = b + 1; const b = a + 1;", "1:28", "by itself"),
        ("eval grad(\\x. 1, 2);", "1:6", "nothing to differentiate"),
        ("eval grad(\\x. 1.0, true);", "1:6", "nothing to differentiate"),
        ("eval grad(\\x. [x], 1.0);", "1:6", "single num"),
        ("fn f(n: int) -> int = f(n + 1);\neval f(0);", "1:23", "depth"),
        ("eval zeros([300000, 1000]);", "1:6", "memory"),
        ("eval int(1e300);", "1:6", "integer overflow"),
        ("eval int(0.0 / 0.0);", "1:6", "integer overflow"),
        ("eval let x = 1 div 0 in 5;", "1:16", "division by zero"),
        ("eval let _ = 1 div 0 in 5;", "1:16", "division by zero"),
        ("eval [1.0, 2.0] + [1.0, 2.0, 3.0];", "1:17", "shape"),
        ("eval fold a = [1.0] for i < 3 do concat(a, [1.0]);", "1:6", "shape"),
        ("fn g(n: int, a: num [n]) -> num [n + 1] = a;", "1:29", "size"),
        ("const a = 1 div 0;\neval 1;", "1:13", "division by zero"),
        ("fn f(a: int) -> int = a;\neval adj_f(1, ());", "2:6", "nothing to differentiate"),
    ] {
        fails(text, place, words);
    }
}

#[test]
fn a_function_that_is_not_recursive_may_be_inside_a_function_passed_to_it() {
    check(
        "fn apply(f: (num) -> num, x: num) -> num = f(x);
         fn f(x: num) -> num = apply(\\y. apply(\\z. z * y, y + 1.0), x);
         eval (f(3.0), grad(f, 3.0));",
        &["[12,7]"],
    );
    let text = "eval let go(g: (int) -> int, n: int) -> int = if n == 0 then g(1) else go(\\x. g(x), n - 1) in go(\\x. x, 3);";
    fails(text, "1:72", "unchanged");
}
