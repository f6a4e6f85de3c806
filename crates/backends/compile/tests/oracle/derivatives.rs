//! Rewrites of differentiation: dead equations are removed, a derivative with a single contribution is that
//! contribution, and streams without derivative get no equations.

use eddy_autodiff::{Body, prune};
use eddy_flow::{Equation, Flow};
use eddy_tables::oracle::{Datum, Tolerance, Witness, agree, inputs};

use crate::functions::Node;
use crate::runs::{ENDS, N_CYCLES};

/// The equations that the outputs need.
fn pruned(flow: &Flow) -> Vec<Equation> {
    let body = Body { equations: flow.equations.clone(), instances: Vec::new() };
    prune(&body, &flow.outputs).equations
}

/// A run before and after a rewrite of its equations, which must change their number.
pub fn rewritten(
    pass: &str,
    text: &str,
    rewrite: impl FnOnce(&Flow) -> Vec<Equation>,
) -> Result<(), Box<Witness>> {
    let node = Node::of_cycles(N_CYCLES, text);
    let after = Node::of_cycles(N_CYCLES, text).with_equations(|flow| {
        let equations = rewrite(flow);
        assert!(equations.len() < flow.equations.len(), "nothing was dropped: {text}");
        equations
    });
    let tables = [&node, &after].map(|node| move |input: &Datum, _: u64| node.simulated(input));
    agree(pass, &tables[0], &tables[1], &inputs(&node.sort(), 31), Tolerance::Exact)
}

#[test]
fn pruning_keeps_tables() {
    for (pass, text) in [
        ("an operation", "node f(x:num) -> (o) d = exp(x) * 3.0; o = x + 1.0;"),
        ("an unread recurrence", "node f(x:num) -> (o) s = x + (0.0 fby s); o = x * x + (1.0 fby o);"),
        (
            "two that read each other",
            "node f(x:num) -> (o) a = 0.0 fby b; b = a * x; c = 1.0 fby d; d = c + x; o = d;",
        ),
        (
            "a sampled stream",
            "node f(x:num, c:bool) -> (o) y = x when c; z = y * 2.0; o = if c then x else -x;",
        ),
        (
            "what is known later",
            "node f(x:num) -> (o) l = 0.0 fby back x; m = l * x; o = 0.0 fby back (x + 1.0);",
        ),
    ] {
        rewritten(&format!("pruning {pass}"), text, pruned)
            .unwrap_or_else(|witness| panic!("{witness}\n{text}"));
    }
}

/// As planning does, pruning removes dead equations even if they can fail: asserted as it is.
#[test]
fn pruning_drops_equations_that_can_fail() {
    let text = "node f(n:int, x:num) -> (o) d = 1 div n; o = x;";
    let message = rewritten("pruning", text, pruned).expect_err("it is known").to_string();
    assert!(message.starts_with("pruning: (0, 0.0"), "{message}");
    assert!(message.contains("undefined (Trap) becomes"), "{message}");
}

/// Two programs with the same table.
fn same(pass: &str, before: &str, after: &str, tolerance: Tolerance) {
    let nodes = [before, after].map(|text| Node::of_cycles(N_CYCLES, text));
    let tables = nodes.each_ref().map(|node| move |input: &Datum, _: u64| node.simulated(input));
    agree(pass, &tables[0], &tables[1], &inputs(&nodes[0].sort(), 37), tolerance)
        .unwrap_or_else(|witness| panic!("{witness}\n{before}\n{after}"));
}

/// A rule written by the user is inlined without the parts that its cotangents do not need: the result equals
/// that of a call.
#[test]
fn rules_of_the_user_are_pruned_where_they_are_used() {
    let rule = "node m(x:num, k:num) -> (y) y = exp(x) * k;
        node adj_m(x:num, k:num, dy:num) -> (y, dx, dk) e = exp(x); unused = e * 7.0; y = e * k; dx = dy * y; dk = dy * e;\n";
    let called = format!("{rule}node f(x:num, k:num, w:num) -> (dx, dk) _, dx, dk = adj_m(x, k, w);");
    let used = format!(
        "{rule}node n(x:num, k:num) -> (y) y = m(x, k);\nnode f(x:num, k:num, w:num) -> (dx, dk) _, dx, dk = adj_n(x, k, w);"
    );
    same("a rule of the user", &called, &used, Tolerance::Exact);
}

/// Transposed equations without the savings: each has all its copies, and a zero for each operand without
/// derivative.
#[test]
fn copies_and_zeros_of_derivatives_are_saved() {
    let but_for_the_sign = Tolerance::Within { atol: 0.0, rtol: 0.0 };
    let m = "node m(x:num, y:num) -> (o) a = x; b = a * stop_gradient(y); c = b; o = c + a;\n";
    same(
        "copies, and an operand without a derivative",
        &format!(
            "{m}node f(x:num, y:num, w:num) -> (dx, dy)
            dc = w; db = dc; da = db * y + w; dx = da + 0.0; dy = 0.0;"
        ),
        &format!("{m}node f(x:num, y:num, w:num) -> (dx, dy) _, dx, dy = adj_m(x, y, w);"),
        but_for_the_sign,
    );
    let r = "node r(x:num) -> (o) s = 0.5 * x + (0.0 fby s); o = s;\n";
    same(
        "derivatives that depend on each other in circles",
        &format!(
            "{r}node f(x:num, w:num, e:bool) -> (dx) {ENDS}
            later = if end then 0.0 else post ds; copy = later; ds = w + copy; dx = ds * 0.5;"
        ),
        &format!("{r}node f(x:num, w:num, e:bool) -> (dx) {ENDS} _, dx = adj_r_end(x, end, w);"),
        but_for_the_sign,
    );
}

/// Rows among zeros are added or concatenated: with a row that is read twice, and one that is not read.
#[test]
fn rows_of_derivatives_are_put_together() {
    let but_for_the_sign = Tolerance::Within { atol: 0.0, rtol: 0.0 };
    let [added, together] = rows(
        "pad(0, 4, [w * x[1]]) + pad(1, 4, [w * x[0]]) + pad(3, 4, [w * twos]) + pad(0, 4, [w * ones([2])])",
    );
    same("rows among zeros", &added, &together, but_for_the_sign);
}

/// A sum of rows among zeros, and its expected derivative.
pub fn rows(sum: &str) -> [String; 2] {
    let head = "node m(x:num [4, 2]) -> (o) o = sum(x[0] * x[1]) + sum(x[3] * 2.0) + sum(x[0]);\nnode f(x:num [4, 2], w:num) -> (dx)";
    [format!("{head} twos = [2.0, 2.0]; dx = {sum};"), format!("{head} _, dx = adj_m(x, w);")]
}
