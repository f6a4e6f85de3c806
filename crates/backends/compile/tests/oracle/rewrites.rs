//! Each rewrite alone, on the smallest function that contains it, and inside of larger functions.

use eddy_tables::oracle::{Datum, Outcome, Tolerance, agree, inputs};

use crate::functions::Node;

fn keeps_tables(pass: &str, text: &str) {
    Node::new(text).keeps_its_table(pass, Tolerance::Exact);
}

/// Folding: a function of constants has the table of the same function with inputs in their place, which
/// cannot be folded.
fn folds(constants: &[Datum], literals: &[&str], body: &str) {
    let names = ["a", "b", "c"];
    let kind = |constant: &Datum| match constant {
        Datum::Int(_) => "int",
        Datum::Bool(_) => "bool",
        _ => "num",
    };
    let declared: Vec<String> =
        constants.iter().zip(names).map(|(constant, name)| format!(", {name}:{}", kind(constant))).collect();
    let open = Node::new(&format!("node f(x:num{}) -> (o) o = {body};", declared.concat()));
    // Whole words only: a name may be a part of another.
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut closed = String::new();
    for piece in body.split_inclusive(|c| !word(c)) {
        let name = piece.trim_end_matches(|c| !word(c));
        match names.iter().position(|known| *known == name).filter(|at| *at < literals.len()) {
            Some(at) => closed.push_str(&piece.replacen(name, literals[at], 1)),
            None => closed.push_str(piece),
        }
    }
    let node = Node::new(&format!("node f(x:num) -> (o) o = {closed};"));
    let compiled = node.compile();
    let inputs = inputs(&node.sort(), 23);
    let with_constants = |input: &Datum, _: u64| {
        let Datum::Tuple(items) = input else { panic!("inputs are a tuple") };
        open.simulated(&Datum::Tuple(items.iter().chain(constants).cloned().collect()))
    };
    for (name, after) in [
        ("planning", &(|input: &Datum, _: u64| node.planned(input)) as &dyn Fn(&Datum, u64) -> Outcome),
        ("C", &|input: &Datum, _: u64| compiled.run(input)),
    ] {
        agree(&format!("folding {closed}, {name}"), &with_constants, after, &inputs, Tolerance::Exact)
            .unwrap_or_else(|witness| panic!("{witness}"));
    }
}

#[test]
fn constants_are_folded_to_what_they_would_be() {
    let real = Datum::Real;
    folds(&[real(2.0), real(3.0)], &["2.0", "3.0"], "x * (a + b)");
    folds(&[real(0.1), real(0.2)], &["0.1", "0.2"], "x + (a + b)");
    folds(&[real(1.0), real(3.0)], &["1.0", "3.0"], "x * (a / b)");
    folds(&[real(1.0), real(0.0)], &["1.0", "0.0"], "x + a / b");
    folds(&[real(0.0), real(0.0)], &["0.0", "0.0"], "x + a / b");
    folds(&[real(2.5)], &["2.5"], "x * exp(a) + tanh(a) - log(a)");
    folds(&[real(2.5), real(0.5)], &["2.5", "0.5"], "if x < pow(a, b) then maximum(a, b) else minimum(a, b)");
    folds(&[Datum::Int(7), Datum::Int(2)], &["7", "2"], "x + num(a div b) + num(a mod b)");
    folds(&[Datum::Int(7), Datum::Int(2)], &["7", "2"], "if a < b then x else -x");
    folds(&[Datum::Bool(true), Datum::Bool(false)], &["true", "false"], "if a and not b then x else 1.0");
}

/// Each rewrite of planning except folding.
#[test]
fn planning_keeps_tables() {
    keeps_tables("a copy", "node f(x:num) -> (o) a = x; b = a; o = b * b;");
    keeps_tables("two negations", "node f(x:bool) -> (o) a = not x; b = a; o = not b;");
    keeps_tables(
        "and with false",
        "node f(x:bool, y:num) -> (o, p) o = x and false; p = if o then y else -y;",
    );
    keeps_tables("or with true", "node f(x:bool, y:num) -> (o, p) o = true or x; p = if o then y else -y;");
    keeps_tables("a known condition", "node f(x:num, y:num) -> (o) o = if true then x else y;");
    keeps_tables(
        "a condition written twice",
        "node f(x:num, y:num) -> (o) o = (if x < y then x else y) + (if x < y then y else x);",
    );
    keeps_tables("a dead equation", "node f(x:num) -> (o) d = exp(x) * 3.0; o = x + 1.0;");
    keeps_tables(
        "a constant that is used twice",
        "node f(x:num [3]) -> (o) c = ones([3]) * 2.0; o = x * c + c;",
    );
}

/// Planning removes dead equations even if they can fail, where the simulator, showing all streams, stops.
/// The plan lists these equations, and `eddy run` shows them too (`engine::program`). The C backend by itself
/// keeps such statements (`lower::prune`).
#[test]
fn planning_drops_dead_equations_that_can_fail() {
    let node = Node::new("node f(n:int, x:num) -> (o) d = 1 div n; o = x;");
    let inputs = inputs(&node.sort(), 17);
    let simulated = |input: &Datum, _: u64| node.simulated(input);
    let planned = |input: &Datum, _: u64| node.planned(input);
    let witness =
        agree("dead equations", &simulated, &planned, &inputs, Tolerance::Exact).expect_err("it is known");
    let message = witness.to_string();
    assert_eq!(message, "dead equations: (0, 0.0) -> undefined (Trap) becomes (0, 0.0) -> (0.0)");
    assert_eq!(node.unread(), ["d"]);
    let compiled = node.compile();
    let in_c = |input: &Datum, _: u64| compiled.run(input);
    assert!(agree("dead equations, C", &planned, &in_c, &inputs, Tolerance::Exact).is_ok());
}

/// Each of the rewrites of the C backend.
#[test]
fn the_c_backend_keeps_tables() {
    keeps_tables(
        "equal operands of integers",
        "node f(n:int) -> (o, p, q, r) o = n == n; p = n != n; q = n <= n; r = n < n;",
    );
    keeps_tables("equal operands of truth values", "node f(b:bool) -> (o, p) o = b == b; p = b != b;");
    keeps_tables("equal operands of reals", "node f(x:num) -> (o, p) o = x == x; p = x != x;");
    keeps_tables(
        "fused loops",
        "node f(x:num [5], y:num [5]) -> (o, p) a = x * y; o = a + x; p = exp(-abs(a)) * o;",
    );
    keeps_tables(
        "a fused loop under a choice",
        "node f(c:bool, x:num [3]) -> (o) o = if c then x * 2.0 else x + 1.0;",
    );
    keeps_tables("a transposed view", "node f(m:num [2, 3]) -> (o) o = transpose(m) + 1.0;");
    keeps_tables(
        "a reshaped view of a view",
        "node f(m:num [2, 3]) -> (o) o = reshape([6], transpose(m)) * 2.0;",
    );
    keeps_tables("an index of a sum", "node f(x:num [3], y:num [3]) -> (o) o = (x + y)[1];");
    keeps_tables("broadcasting", "node f(x:num, v:num [3], m:num [2, 3]) -> (o) o = m * v + x;");
    keeps_tables("nothing to go through", "node f(x:num [0]) -> (o, s) o = x * 2.0; s = sum(x);");
    keeps_tables(
        "reductions",
        "node f(m:num [3, 5]) -> (a, b, c, d) a = sum(m); b = sum(m, 0); c = mean(m, 1); d = max(m);",
    );
    keeps_tables(
        "products",
        "node f(m:num [2, 3], w:num [3, 5], v:num [3]) -> (o, p) o = matmul(m, w); p = matmul(m, v);",
    );
    keeps_tables(
        "a product of a transposed matrix",
        "node f(m:num [3, 2], v:num [3]) -> (o) o = matmul(transpose(m), v);",
    );
    keeps_tables(
        "elements that are put together",
        "node f(x:num [2], y:num [3], i:int) -> (o, p, q) o = concat(x, y) * 2.0; p = [x, x + 1.0]; q = onehot(3, i) + y;",
    );
    keeps_tables(
        "a convolution",
        "node f(x:num [4, 3, 2], w:num [2, 2, 2, 3]) -> (o) o = relu(conv2d(x, w));",
    );
    keeps_tables("softmax", "node f(v:num [5]) -> (o) o = softmax(v);");
    keeps_tables("checked integers", "node f(n:int, m:int) -> (o, p) o = n + m; p = n * m;");
    keeps_tables("division of integers", "node f(n:int, m:int) -> (o, p) o = n div m; p = n mod m;");
    keeps_tables("reals to integers", "node f(x:num) -> (o) o = int(x);");
}

/// The same rewrites inside of larger functions. (Lemma 3.13 implies this; it is tested as well.)
#[test]
fn whole_functions_keep_tables() {
    keeps_tables(
        "a layer",
        "node f(x:num [3], w:num [2, 3], b:num [2], t:num [2]) -> (o, loss)
           a = matmul(w, x) + b; h = tanh(a); c = 0.5 + 0.5; o = h * c;
           e = o - t; loss = sum(e * e) / (1.0 + 1.0);",
    );
    keeps_tables(
        "gates",
        "node f(i:num [3], h:num [3], on:bool) -> (o)
           z = sigmoid(i + h); n = tanh(i * z); keep = not (not on);
           u = if keep and true then z else zeros([3]); o = u * h + (1.0 - u) * n;",
    );
    keeps_tables(
        "a distance",
        "node f(m:num [2, 3], v:num [3], n:int) -> (o, p)
           d = m - v; s = sum(d * d, 1); o = sqrt(s); same = n == n; p = if same then sum(s) else s[0];",
    );
}
