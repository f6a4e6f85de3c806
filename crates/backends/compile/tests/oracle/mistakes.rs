//! Tempting but wrong rewrites: the oracle catches each, and shows a small input.

use eddy_flow::{Flow, Kind};
use eddy_tables::oracle::{Datum, Tolerance, agree, inputs};

use crate::derivatives::{rewritten, rows};
use crate::functions::Node;
use crate::runs::{LONG, N_CYCLES, windowed};

/// The input at which a rewrite changes a function, from the oracle's report.
fn caught(pass: &str, before: &str, after: &str, tolerance: Tolerance) -> String {
    caught_over(1, pass, [before, after].map(|text| format!("node f{text}")), tolerance)
}

fn caught_over(n_cycles: usize, pass: &str, texts: [String; 2], tolerance: Tolerance) -> String {
    let nodes = texts.map(|text| Node::of_cycles(n_cycles, &text));
    let inputs = inputs(&nodes[0].sort(), 29);
    let tables = nodes.each_ref().map(|node| move |input: &Datum, _: u64| node.planned(input));
    let witness = agree(pass, &tables[0], &tables[1], &inputs, tolerance);
    witness.expect_err(pass).to_string()
}

fn exactly(pass: &str, before: &str, after: &str) -> String {
    caught(pass, before, after, Tolerance::Exact)
}

#[test]
fn algebra_that_does_not_hold_for_all_reals_is_caught() {
    let message = exactly(
        "x - x",
        "(x:num) -> (o) o = x - x;",
        "(x:num) -> (o) o = 0.0 * 0.0 + (if x == x then 0.0 else 0.0);",
    );
    assert_eq!(message, "x - x: (inf) -> (NaN) becomes (inf) -> (0.0)");
    let message =
        exactly("x * 0", "(x:num) -> (o) o = x * 0.0;", "(x:num) -> (o) o = if x == x then 0.0 else 0.0;");
    assert!(message.starts_with("x * 0: (-1.0) -> (-0.0)"), "{message}");
    let message = exactly("x + 0", "(x:num) -> (o) o = x + 0.0;", "(x:num) -> (o) o = x;");
    assert_eq!(message, "x + 0: (-0.0) -> (0.0) becomes (-0.0) -> (-0.0)");
    let message = exactly("x == x", "(x:num) -> (o) o = x == x;", "(x:num) -> (o) o = x == x or true;");
    assert_eq!(message, "x == x: (NaN) -> (false) becomes (NaN) -> (true)");
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

/// Failures are part of the table: dropping or adding one is a difference.
#[test]
fn dropped_and_added_traps_are_caught() {
    let message = exactly(
        "a dropped trap",
        "(n:int, x:num) -> (o) d = 1 div n; o = x + num(d - d);",
        "(n:int, x:num) -> (o) o = x + num(n - n);",
    );
    assert!(message.starts_with("a dropped trap: (0, 0.0) -> undefined (Trap)"), "{message}");
    exactly("an added trap", "(n:int, m:int) -> (o) o = n;", "(n:int, m:int) -> (o) o = (n + m) - m;");
}

/// Planning: each rewrite of runs, applied in one case too many.
#[test]
fn rewrites_of_runs_in_one_case_too_many_are_caught() {
    let start = "k = if first then 3.0 else held;";
    for (pass, before, after) in [
        (
            "a restart after another condition",
            format!("{start} held = 3.0 fby (if x < 0.0 then 0.0 else k); o = k * x;").as_str(),
            "o = 3.0 * x;",
        ),
        (
            "a restart that changes what is kept",
            &format!("{start} held = 3.0 fby (if end then 0.0 else 2.0 * k); o = k * x;"),
            "o = 3.0 * x;",
        ),
        ("a delay that is no constant", "p = 0.5 fby 0.25; o = p * x;", "o = 0.5 * x;"),
        ("conditions that are not the same", "o = if (true fby x < 0.0) then x else -x;", "o = if first then x else -x;"),
        ("a clock that does not always tick", "o = (x when end) + 1.0;", "o = x + 1.0;"),
        (
            "a value held from the wrong end",
            "o = merge end (x when end) ((post o) when not end);",
            "o = if first then x else (0.0 fby o);",
        ),
        (
            "a value that is held over the end",
            "o = if first then x else (0.0 fby o);",
            "o = if (true fby false) then x else (0.0 fby o);",
        ),
        (
            "computed again from the cycle before",
            "q = exp(x); o = q + (if end then 0.0 else post o);",
            "q = exp(0.0 fby x); o = q + (if end then 0.0 else post o);",
        ),
        (
            "a window that does not end",
            "o = x + (if end then 0.0 else post o);",
            "o = x + (if n == 5 then 0.0 else post o);",
        ),
        (
            "a sum in the other direction",
            "s = x + (if end then 0.0 else post s); o = if first then s else 0.0;",
            "s = x + (if first then 0.0 else 0.0 fby s); o = if first then (if end then s else later) else 0.0;
             later = if end then s else post later;",
        ),
        ("one cycle too late", "o = x + (0.0 fby back x);", "o = x + (0.0 fby x);"),
    ] {
        let texts = [before, after].map(|equations| windowed("x:num", "o", equations));
        caught_over(N_CYCLES, pass, texts, Tolerance::Exact);
    }
}

/// Differentiation: dropped equations that are needed, and dropped contributions.
#[test]
fn what_differentiation_must_not_drop_is_missed() {
    let text = "node f(x:num) -> (o) s = x + (0.0 fby s); o = s * 2.0;";
    let without_delays = |flow: &Flow| {
        let is_kept = |kind: &Kind| !matches!(kind, Kind::Fby { .. });
        flow.equations.iter().filter(|equation| is_kept(&equation.kind)).cloned().collect()
    };
    rewritten("pruning what a sum needs", text, without_delays).expect_err("it is needed");
    let loose = Tolerance::Within { atol: 1e-3, rtol: 1e-3 };
    let m = "node m(x:num) -> (o) o = x * x + x;\nnode f(x:num, w:num) -> (dx)";
    let one_of_two = [format!("{m} _, dx = adj_m(x, w);"), format!("{m} dx = w;")];
    caught_over(N_CYCLES, "one contribution of several", one_of_two, loose);
    let swapped =
        rows("pad(1, 4, [w * x[1] + w * ones([2])]) + pad(0, 4, [w * x[0]]) + pad(3, 4, [w * twos])");
    caught_over(N_CYCLES, "rows put together in another order", swapped, loose);
}

/// The C of a node with a planted mistake.
fn caught_in_c(pass: &str, text: &str, right: &str, wrong: &str) {
    is_caught_in_c(pass, &Node::of_cycles(N_CYCLES, text), right, wrong);
}

fn is_caught_in_c(pass: &str, node: &Node, right: &str, wrong: &str) {
    let compiled = node.compile_mistaken(right, wrong);
    let planned = |input: &Datum, _: u64| node.planned(input);
    let in_c = |input: &Datum, _: u64| compiled.run(input);
    let checked = agree(pass, &planned, &in_c, &inputs(&node.sort(), 41), Tolerance::Exact);
    checked.expect_err(pass);
}

/// The C backend: each of its rewrites with a planted mistake.
#[test]
fn slips_of_the_c_backend_are_caught() {
    let sum = windowed(
        "x:num [2], y:num [3]",
        "o",
        "s = outer(x, y) + (if end then zeros([2, 3]) else post s); o = if first then s else zeros([2, 3]);",
    );
    let (last, step) = ("&self->w0[high - 1][0], -2, &self->w1[high - 1][0], -3", "(size_t)(high - low)");
    let first = "&self->w0[low][0], 2, &self->w1[low][0], 3";
    caught_in_c("a sum of outer products in another order", &sum, last, first);
    caught_in_c("a sum of outer products without one", &sum, step, "(size_t)(high - low - 1)");
    let matrix = "node f(x:num [8]) -> (o) w = param(glorot_uniform([8, 8])); o = matmul(w, x);";
    caught_in_c("a matrix by rows instead of columns", matrix, "[8 * i1 + i0]", "[8 * i0 + i1]");
    let swap = "node f(x:num [2]) -> (o, p) a = zeros([2]) fby b + x; b = ones([2]) fby a; o = a; p = b;";
    caught_in_c("assignments one after the other", swap, "= aside1[i0]", "= self->t0[i0]");
    let update = "node f(x:num [2]) -> (o) h = ones([2]) fby o; o = h * 2.0 + x;";
    caught_in_c("a start that is forgotten", update, "= 1.0;", "= 0.0;");
    let fused = "node f(x:num [3], y:num [3]) -> (o, p) o = x * y; p = o + x;";
    caught_in_c("a fused loop that is too short", fused, "i0 < 3", "i0 < 2");
    let view = "node f(m:num [2, 3]) -> (o) o = transpose(m) + 1.0;";
    caught_in_c("a view with other strides", view, "3 * i1", "2 * i1");
    let blocks = "node f(x:num [11]) -> (o) o = tanh(x) + 1.0;";
    caught_in_c("a last block that begins too early", blocks, ": 3)", ": 2)");
    let over = "node f(x:num [13]) -> (o) h = zeros([13]) fby g; g = tanh(h + x) - h * 0.5; o = g * 2.0;";
    caught_in_c("a block over what the next one reads", over, "[b][j] = e", "[b][j] = self->s_h_2[i0] = e");
    let sums = "node f(x:num [4, 3]) -> (o) y = x * x + 1.0; o = sum(y, 0);";
    caught_in_c("a sum in a loop that starts with a term too many", sums, "= (-0.0);", "= 1.0;");
    let rows = "node f(x:num [9, 5]) -> (o) o = sum(x * 2.0, 1);";
    caught_in_c("sums of rows with a term too few", rows, "eddy_row_sums(9, 5,", "eddy_row_sums(9, 4,");
    let packed = "node f(x:num [4, 3], y:num [5, 3]) -> (o) o = matmul(x, transpose(y));";
    caught_in_c("a right operand that is not turned round", packed, ", 1, 3, &self", ", 3, 1, &self");
    let added = "node f(x:num [2, 3], y:num [3, 9]) -> (o) s = zeros([2, 9]) fby g; g = s + matmul(x, y); o = g * 2.0;";
    caught_in_c("a product that is added, and a term is lost", added, "_plus(2, 3, 9", "_plus(2, 2, 9");
    let own = "node f(x:num [5, 5]) -> (o) s = ones([5, 5]) fby g; g = s + matmul(s, x * 0.25); o = g * 2.0;";
    caught_in_c("a product over its own factor", own, "5, &self->t1[0], 5, &", "5, &self->s_s_2[0], 5, &");
    let some = "node f(m:num [3, 5], x:num [3]) -> (o) o = slice(2, 4, matmul(transpose(m), x)) * 2.0;";
    caught_in_c("other rows of a product", some, "m[2]", "m[1]");
    let same = "node f(n:int) -> (o) o = n == n;";
    caught_in_c("a comparison of a value with itself", same, "true", "false");
    let shared = "node f(x:num [3]) -> (o) a = softmax(x); b = softmax(a * 2.0); o = a + b;";
    caught_in_c("memory that is shared too early", shared, "self->t1", "self->t0");
    let folded = "node f(x:num) -> (o) p = 0.1 fby p; o = x * exp(p);";
    caught_in_c("a constant of fewer digits", folded, "1.1051709180756477", "1.105170918075647");
    let reduced = "node f(m:num [3]) -> (o) o = sum(m);";
    caught_in_c("a sum that starts with another zero", reduced, "(-0.0)", "0.0");
    let made = "node f(x:num) -> (o) w = param(2.0); o = x * exp(w);";
    caught_in_c(
        "something made of a parameter as if it were the parameter",
        made,
        "eddy_exp(self->k_w_2)",
        "self->k_w_2",
    );
}

#[test]
fn cuts_in_the_wrong_way_are_caught() {
    let long = Node::of_cycles(N_CYCLES, LONG).in_pieces(2);
    is_caught_in_c("a value that is not handed on", &long, "= locals->a_4;", "= 0.0;");
    is_caught_in_c("a value of another variable", &long, "= locals->b_5;", "= locals->a_4;");
    is_caught_in_c("a change without effect on outputs", &long, "  locals->t_7 = v14 + 1.0;", "  (void)v14;");
    for piece in 0..8 {
        let call = format!("  law_step_piece{piece}(");
        is_caught_in_c("a piece that is not called", &long, &call, &format!("  if (false) {}", call.trim()));
    }
}
