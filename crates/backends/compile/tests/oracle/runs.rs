//! Rewrites of state and of values known ahead. A run of some cycles is a pure function too: from all inputs
//! to all outputs.
//!
//! Each test names the part of the plan or of the C that the rewrite produces, which proves that the rewrite
//! was applied.

use eddy_plan::{Kinds, Options, Recompute};
use eddy_tables::oracle::{Datum, Tolerance, agree, inputs};

use crate::functions::Node;

/// The number of cycles; [`ENDS`] closes the window that is open at the end.
pub const N_CYCLES: usize = 6;

/// Equations that end windows: wherever `e` is true, and at the last cycle.
pub const ENDS: &str = "n = 0 fby n + 1; end = e or n == 5; first = true fby end;";

/// A node with windows; `inputs` come before `e`.
pub fn windowed(inputs: &str, outputs: &str, equations: &str) -> String {
    format!("node f({inputs}, e:bool) -> ({outputs}) {ENDS} {equations}")
}

/// A run preserves its table, and its plan contains these words.
fn plans(pass: &str, text: &str, words: &str) {
    let node = Node::of_cycles(N_CYCLES, text);
    assert!(node.report().contains(words), "no `{words}` in\n{}", node.report());
    node.keeps_its_table(pass, Tolerance::Exact);
}

/// A run preserves its table, and its C contains these words.
fn writes(pass: &str, text: &str, words: &str) {
    let node = Node::of_cycles(N_CYCLES, text);
    let compiled = node.keeps_its_table(pass, Tolerance::Exact);
    assert!(compiled.source().contains(words), "no `{words}` in\n{}", compiled.source());
}

#[test]
fn what_never_changes_is_folded() {
    plans(
        "a constant that is remembered",
        "node f(x:num) -> (o) p = 0.1 fby p; o = x * exp(p);",
        "o = x * 1.1",
    );
    plans(
        "a delay of a constant",
        "node f(x:num) -> (o) p = 0.25 fby back 0.25; o = x + p / 3.0;",
        "x + 0.08",
    );
    plans(
        "a clock that always ticks",
        "node f(x:num) -> (o) y = x when true; o = (0.0 fby y) + y;",
        "forward",
    );
    plans("a clock that never ticks", "node f(x:num) -> (o, p) o = x when false; p = -x;", "p = - x");
    plans(
        "a condition that is written twice, and delayed",
        &windowed(
            "x:num",
            "o",
            "again = true fby end; o = x + (if first then 0.0 else if again then 1.0 else 0.0 fby o) + (if end then 0.0 else post b); b = x + (if end then 0.0 else post b);",
        ),
        "window end",
    );
}

#[test]
fn what_is_the_same_after_each_restart_is_what_it_starts_with() {
    let g = "node g(x:num) -> (o) k = param(3.0); o = k * x + (0.0 fby o);\n";
    let woven = format!("{g}{}", windowed("x:num", "o", "o = g_end(x, end);"));
    let node = Node::of_cycles(N_CYCLES, &woven);
    // `k` has no state: the loop keeps `n` and the state of `g`.
    assert!(!node.report().contains("g_end#1/k ="), "{}", node.report());
    node.keeps_its_table("a parameter of a node with resets", Tolerance::Exact);
    // Similar equations are not rewritten: another condition, another value, a start that changes, a first
    // cycle that is none.
    for (name, k, held) in [
        ("another condition", "if first then 3.0 else held", "3.0 fby (if x < 0.0 then 0.0 else k)"),
        ("another value", "if first then 3.0 else held", "3.0 fby (if end then 0.0 else 2.0 * k)"),
        ("a start that changes", "if first then x else held", "x fby (if end then 0.0 else k)"),
        (
            "a first cycle that is none",
            "if (false fby end) then 3.0 else held",
            "1.0 fby (if end then 0.0 else k)",
        ),
        ("the other way round", "if first then held else 3.0", "3.0 fby (if end then 0.0 else k)"),
    ] {
        let text = windowed("x:num", "o", &format!("k = {k}; held = {held}; o = k * x;"));
        Node::of_cycles(N_CYCLES, &text).keeps_its_table(name, Tolerance::Exact);
    }
}

#[test]
fn parameters_and_what_is_made_of_them_are_computed_once() {
    writes(
        "what is made of parameters",
        "node f(x:num [3]) -> (o) w = param([1.0, -0.0, 0.3]); o = x * exp(w) / sum(w);",
        "self->k_",
    );
    writes(
        "a matrix by columns",
        "node f(x:num [8]) -> (o, p) w = param(glorot_uniform([9, 8])); o = matmul(w, x); p = matmul(w * 2.0, o[0] * x);",
        "_t[",
    );
}

#[test]
fn lags_keep_tables() {
    let late = "node f(x:num) -> (o) o = (0.0 fby o) + x * (post x) + (post (post x));";
    let node = Node::of_cycles(N_CYCLES, late).showing(N_CYCLES - 2);
    assert!(node.report().contains("lag 2"), "{}", node.report());
    node.keeps_its_table("a loop that is late", Tolerance::Exact);
    plans(
        "a delay of a delay",
        "node f(x:num [2]) -> (o) o = zeros([2]) fby (ones([2]) fby x * 2.0);",
        "forward",
    );
}

#[test]
fn windows_keep_tables() {
    plans(
        "a sum backwards",
        &windowed("x:num", "o", "o = x + (if end then 0.0 else post o);"),
        "window end: B",
    );
    plans(
        "loops in both directions",
        &windowed(
            "x:num",
            "o",
            "a = x + (if first then 0.0 else 0.0 fby a); b = x * a + (if end then 0.0 else post b); o = a * b;",
        ),
        "window end: F,B",
    );
    plans(
        "a sampled stream in a window",
        &windowed(
            "x:num, c:bool",
            "o",
            "y = x when c; s = merge c (y * 2.0) (x when not c); o = s + (if end then 0.0 else post o);",
        ),
        "window end",
    );
    let derived = Node::of_cycles(
        N_CYCLES,
        "node f(x:num, y:num, e:bool, g:bool) -> (o) n = 0 fby n + 1; d = e or n == 5; k = 5 fby k - 1; h = g or k == 0;
         a = merge d (x when d) ((post a) when not d); b = merge h (y when h) ((post b) when not h); o = a + b;",
    );
    assert!(derived.report().contains("window derived"), "{}", derived.report());
    derived.keeps_its_table("a derived end", Tolerance::Exact);
}

/// The plan without a rewrite has the table of the plan with it, and so does the simulator.
fn turned_on(pass: &str, off: Options, text: &str, words: &str, tolerance: Tolerance) {
    let (without, with) = (Node::planned_with(N_CYCLES, &off, text), Node::of_cycles(N_CYCLES, text));
    let (before, after) = (without.report(), with.report());
    assert!(!before.contains(words) && after.contains(words), "`{words}`\n{before}\n{after}");
    let table = |node: &Node, input: &Datum| node.planned(input);
    let checked = agree(
        pass,
        &|input, _| table(&without, input),
        &|input, _| table(&with, input),
        &inputs(&with.sort(), 19),
        tolerance,
    );
    checked.unwrap_or_else(|witness| panic!("{witness}\n{after}"));
    with.keeps_its_table(pass, tolerance);
}

const NO_HOLDS: Options = Options { holds: false, ..ALL };
const NO_RECOMPUTATION: Options = Options { recompute: Recompute::Nothing, ..ALL };
const ALL: Options = Options {
    seed: 0,
    single: false,
    holds: true,
    recompute: Recompute::Elementwise,
    checkpoints: false,
    kinds: Kinds::All,
};

#[test]
fn held_values_keep_tables() {
    turned_on(
        "a value that comes from the end",
        NO_HOLDS,
        &windowed("x:num", "o, p", "o = merge end (x when end) ((post o) when not end); p = o * x;"),
        "held: o",
        Tolerance::Exact,
    );
    turned_on(
        "a value that comes from the beginning",
        NO_HOLDS,
        &windowed(
            "x:num",
            "o",
            "k = if first then x else (0.0 fby k); o = k * x + (if end then 0.0 else post o);",
        ),
        "held: k",
        Tolerance::Exact,
    );
}

/// Zeros that differentiation wrote are skipped, so −0 may become 0; no other digit of a real may differ.
#[test]
fn added_zeros_of_derivatives_keep_tables_but_for_the_sign_of_zero() {
    let text = format!(
        "node m(s:num, x:num, end:bool) -> (o)
           h = s fby h; o = merge end ((h when end) * (x when end)) (0.0 when not end);
         node f(s:num, x:num, w:num, e:bool) -> (ds, dx) {ENDS} _, ds, dx = adj_m_end(s, x, end, end, w);"
    );
    let but_for_the_sign = Tolerance::Within { atol: 0.0, rtol: 0.0 };
    turned_on("sums with zeros of derivatives", NO_HOLDS, &text, "held: adj_m_end#1/d'h", but_for_the_sign);
}

#[test]
fn what_is_computed_again_keeps_tables() {
    turned_on(
        "cheap values instead of buffers",
        NO_RECOMPUTATION,
        &windowed(
            "x:num",
            "o",
            "q = exp(x) + x; a = q + (if first then 0.0 else 0.0 fby a); b = q * a + (if end then 0.0 else post b); o = a * b + tanh(q);",
        ),
        "(again)",
        Tolerance::Exact,
    );
}

#[test]
fn what_c_keeps_from_cycle_to_cycle_keeps_tables() {
    writes("an update in place", "node f(x:num [3]) -> (o) h = zeros([3]) fby o; o = h * 2.0 + x;", "self->");
    writes(
        "an update that reads all of what it replaces",
        "node f(x:num [2]) -> (o) w = [[1.0, 2.0], [3.0, -1.0]]; h = ones([2]) fby h1; h1 = matmul(w, h) + x; o = h1 + h[1];",
        "self->",
    );
    writes(
        "assignments that happen at once",
        "node f(x:num [2]) -> (o, p) a = zeros([2]) fby b + x; b = ones([2]) fby a; o = a; p = b;",
        "aside",
    );
    writes(
        "memory that is shared",
        &windowed(
            "x:num [3]",
            "o",
            "a = exp(-abs(x)); b = softmax(a); c = sum(b * a) * x; d = softmax(c); o = d + (if end then zeros([3]) else post o);",
        ),
        "self->t0",
    );
}

#[test]
fn loops_and_products_that_are_cut_otherwise_keep_tables() {
    let twice =
        Node::of_cycles(N_CYCLES, "node f(x:num [3]) -> (o) o = exp(-abs(x)) * x + exp(-abs(x)) * x;");
    let compiled = twice.keeps_its_table("what is written twice", Tolerance::Exact);
    assert_eq!(compiled.source().matches("eddy_exp(").count(), 1, "{}", compiled.source());
    writes(
        "sums in the loop that computes their terms",
        "node f(x:num [4, 3]) -> (o, p) y = x * x + 1.0; o = sum(y, 0); p = y;",
        "+= y_",
    );
    writes(
        "sums that a loop takes, stored where the loop reads",
        "node f(x:num [4, 3]) -> (o) h = zeros([3]) fby o; y = x * x + h; o = sum(y, 0);",
        "+= ",
    );
    writes(
        "sums of rows, side by side",
        "node f(x:num [9, 5]) -> (o) o = sum(x * 2.0, 1);",
        "eddy_row_sums(",
    );
    writes("maxima side by side", "node f(x:num [4, 3]) -> (o) o = max(x * 2.0, 0);", "eddy_maximum(");
    writes(
        "a right operand by columns",
        "node f(x:num [4, 3], y:num [5, 3]) -> (o) o = matmul(x, transpose(y));",
        "eddy_pack(",
    );
    writes(
        "a product that is added to what is there",
        "node f(x:num [6, 3], y:num [3, 19]) -> (o) s = zeros([6, 19]) fby g; g = s + matmul(x, y); o = g * 2.0;",
        "eddy_matmul_plus(",
    );
    writes(
        "a product of what it is added to",
        "node f(x:num [5, 5]) -> (o) s = ones([5, 5]) fby g; g = matmul(s, x * 0.25) + s; o = g * 2.0;",
        "eddy_matmul_plus(",
    );
    writes(
        "dead rows of a product",
        "node f(m:num [3, 5], x:num [3]) -> (o) o = slice(2, 4, matmul(transpose(m), x)) * 2.0;",
        "eddy_matmul(1, 3, 2,",
    );
    writes(
        "blocks that overlap",
        "node f(x:num [11], y:num [11]) -> (o, p) o = tanh(x * y) + 1.0; p = exp(-abs(y)) / (2.0 + o * o);",
        "b < 2",
    );
    writes(
        "blocks that overlap, over what they read",
        "node f(x:num [13]) -> (o) h = zeros([13]) fby g; g = tanh(h + x) - h * 0.5; o = g * 2.0;",
        "[b][j]",
    );
}

#[test]
fn sums_of_outer_products_are_taken_after_the_loop() {
    for (name, direction) in [
        ("backwards", "if end then zeros([2, 3]) else post s"),
        ("forwards", "if first then zeros([2, 3]) else zeros([2, 3]) fby s"),
    ] {
        let shown = if name == "backwards" { "first" } else { "end" };
        let whole = "b = sum(x) + (if end then 0.0 else post b);";
        for (sides, product) in
            [("as they arrive", "outer(x, y)"), ("computed in the loop", "outer(softmax(x), y + 1.0)")]
        {
            let equations = format!(
                "{whole} s = {product} + ({direction}); o = if {shown} then s else zeros([2, 3]); p = b;"
            );
            let text = windowed("x:num [2], y:num [3]", "o, p", &equations);
            writes(&format!("a sum of outer products {name}, of vectors {sides}"), &text, "eddy_outer_sums(");
        }
    }
    let gradient = format!(
        "node m(x:num [3]) -> (o) w = param(glorot_uniform([2, 3])); h = tanh(matmul(w, x)); o = sum(h * h);
         node f(x:num [3], e:bool) -> (o, dw) {ENDS} o, _, dw = adj_m_end(x, end, if end then 1.0 else 0.5);"
    );
    writes("the gradient of a matrix", &gradient, "eddy_outer_sums(");
}

#[test]
fn single_precision_keeps_tables() {
    let single = Options { single: true, ..ALL };
    for (name, text) in [
        ("constants", "node f(x:num) -> (o) p = 0.1 fby p; o = x * (p + 0.2) / exp(p);".to_string()),
        (
            "a layer",
            "node f(x:num [3]) -> (o) w = param(glorot_uniform([2, 3])); o = tanh(matmul(w, x) + 0.1);"
                .to_string(),
        ),
        (
            "a window",
            windowed(
                "x:num [2], y:num [3]",
                "o",
                "s = outer(x, y) + (if end then zeros([2, 3]) else post s); o = if first then s else zeros([2, 3]);",
            ),
        ),
    ] {
        Node::planned_with(N_CYCLES, &single, &text)
            .keeps_its_table(&format!("{name} in single precision"), Tolerance::Exact);
    }
}

/// A function with variables that change, that do not change, and that only the next line needs.
pub const LONG: &str = "node f(x:num, c:bool) -> (o, p)
    a = x * 2.0; b = a + x; s = (a * b) when c; t = s + 1.0; u = merge c t ((b - a) when not c);
    d = u * a; e = d + b; g = e * u - (0.5 fby d); h = 0.25 fby e; o = g + h * a; p = o * b - d;";

#[test]
fn pieces_keep_tables() {
    for n_lines in 1..4 {
        let node = Node::of_cycles(N_CYCLES, LONG).in_pieces(n_lines);
        let compiled = node.keeps_its_table("a function in pieces", Tolerance::Exact);
        for words in ["law_step_piece1(", "const double a_4 = locals->a_4;", "locals->t_7 = v14"] {
            assert!(compiled.source().contains(words), "no `{words}` in\n{}", compiled.source());
        }
        let window = windowed(
            "x:num, y:num [2]",
            "o, p",
            "a = x + (if first then 0.0 else 0.0 fby a); b = x * a + (if end then 0.0 else post b); o = a * b; p = exp(y) * o;",
        );
        Node::of_cycles(N_CYCLES, &window)
            .in_pieces(n_lines)
            .keeps_its_table("a window in pieces", Tolerance::Exact);
    }
}
