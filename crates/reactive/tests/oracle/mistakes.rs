//! Rewrites that are tempting and wrong: the yardstick catches each, and shows a small input.

use eddy_tables::oracle::{Datum, Tolerance, agree, inputs};

use crate::functions::Node;

/// The input at which a rewrite changes a function, as the yardstick tells it.
fn caught(pass: &str, before: &str, after: &str, tolerance: Tolerance) -> String {
    let nodes = [before, after].map(|text| Node::new(&format!("node f{text}")));
    let inputs = inputs(&nodes[0].sort(), 29);
    let tables = nodes.each_ref().map(|node| move |input: &Datum, _: u64| node.planned(input));
    let witness = agree(pass, &tables[0], &tables[1], &inputs, tolerance);
    witness.expect_err("this rewrite is wrong").to_string()
}

fn exactly(pass: &str, before: &str, after: &str) -> String {
    caught(pass, before, after, Tolerance::Exact)
}

#[test]
fn algebra_that_does_not_hold_for_all_reals_is_caught() {
    let told = exactly(
        "x - x",
        "(x:num) -> (o) o = x - x;",
        "(x:num) -> (o) o = 0.0 * 0.0 + (if x == x then 0.0 else 0.0);",
    );
    assert_eq!(told, "x - x: (inf) -> (NaN) becomes (inf) -> (0.0)");
    let told =
        exactly("x * 0", "(x:num) -> (o) o = x * 0.0;", "(x:num) -> (o) o = if x == x then 0.0 else 0.0;");
    assert!(told.starts_with("x * 0: (-1.0) -> (-0.0)"), "{told}");
    let told = exactly("x + 0", "(x:num) -> (o) o = x + 0.0;", "(x:num) -> (o) o = x;");
    assert_eq!(told, "x + 0: (-0.0) -> (0.0) becomes (-0.0) -> (-0.0)");
    let told = exactly("x == x", "(x:num) -> (o) o = x == x;", "(x:num) -> (o) o = x == x or true;");
    assert_eq!(told, "x == x: (NaN) -> (false) becomes (NaN) -> (true)");
}

#[test]
fn other_orders_and_divisions_are_caught() {
    exactly(
        "order of a sum",
        "(a:num, b:num, c:num) -> (o) o = (a + b) + c;",
        "(a:num, b:num, c:num) -> (o) o = a + (b + c);",
    );
    exactly("a reciprocal", "(x:num) -> (o) o = x / 3.0;", "(x:num) -> (o) o = x * (1.0 / 3.0);");
    exactly(
        "distributivity",
        "(x:num, y:num) -> (o) o = x * (y + 1.0);",
        "(x:num, y:num) -> (o) o = x * y + x;",
    );
    let v = "(v:num [5]) -> (o) ";
    exactly(
        "order of a reduction",
        &format!("{v}o = sum(v);"),
        &format!("{v}o = v[4] + v[3] + v[2] + v[1] + v[0];"),
    );
}

#[test]
fn a_wrong_result_is_caught_whatever_the_tolerance() {
    let loose = Tolerance::Within { atol: 1e-3, rtol: 1e-3 };
    caught("minus for plus", "(x:num, y:num) -> (o) o = x + y;", "(x:num, y:num) -> (o) o = x - y;", loose);
    caught(
        "the other matrix",
        "(m:num [2, 2]) -> (o) o = m;",
        "(m:num [2, 2]) -> (o) o = transpose(m);",
        loose,
    );
    caught("another shape", "(m:num [2, 3]) -> (o) o = m;", "(m:num [2, 3]) -> (o) o = transpose(m);", loose);
    caught(
        "the other branch",
        "(c:bool, x:num) -> (o) o = if c then x else -x;",
        "(c:bool, x:num) -> (o) o = if c then -x else x;",
        loose,
    );
}

/// Undefinedness is a part of the table: a trap that is dropped, or one that is added, is a difference.
#[test]
fn dropped_and_added_traps_are_caught() {
    let told = exactly(
        "a dropped trap",
        "(n:int, x:num) -> (o) d = 1 div n; o = x + num(d - d);",
        "(n:int, x:num) -> (o) o = x + num(n - n);",
    );
    assert!(told.starts_with("a dropped trap: (0, 0.0) -> undefined (Trap)"), "{told}");
    exactly("an added trap", "(n:int, m:int) -> (o) o = n;", "(n:int, m:int) -> (o) o = (n + m) - m;");
}
