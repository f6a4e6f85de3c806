//! Functions that nodes apply (functions.md, section 6): law L17 on generated functions.
//!
//! A node that applies `f` and `f` itself agree: bit for bit in their values, and within 1e-9 in derivatives,
//! since small functions are inlined and differentiated as equations.

use std::cell::Cell;

use eddy_language::functions::{Budget, lower};
use eddy_language::resolve;
use eddy_language::runs::{self, RunOverrides};
use eddy_language::tree::Item;
use eddy_syntax::{SourceFile, Sources};
use eddy_tests::choices::Choices;
use eddy_tests::law::{Trial, Verdict, law};
use proptest::strategy::Strategy;

/// The lines that a program prints, or its first error.
fn lines(text: &str) -> Result<Vec<String>, String> {
    let mut sources = Sources::alone(SourceFile::new("law.eddy", text));
    let first = |errors: Vec<eddy_syntax::Diagnostic>| errors[0].title.clone();
    let program = resolve(&mut sources).accepted().map_err(first)?;
    let mut budget = Budget::default();
    let functions = lower(&program, &mut budget).map_err(first)?;
    let mut lines = Vec::new();
    for (at, item) in program.modules[1].tree.items.iter().enumerate() {
        match item {
            Item::Run(run) => {
                let (ran, _) = runs::run(&program, run, &RunOverrides::default()).map_err(first)?;
                lines.extend(ran.text(None).lines().map(str::to_string));
            }
            Item::Eval(_) => {
                lines.push(
                    functions.evaluate(at, &mut budget).map_err(|diagnostic| diagnostic.title.clone())?,
                );
            }
            _ => {}
        }
    }
    Ok(lines)
}

/// The numbers of a line, in order.
fn numbers_of(line: &str) -> Vec<f64> {
    let is_separator = |c: char| matches!(c, '[' | ']' | '{' | '}' | ',' | ':' | '"');
    line.split(is_separator).filter_map(|word| word.parse().ok()).collect()
}

fn numbers() -> impl Strategy<Value = Vec<u16>> {
    proptest::collection::vec(proptest::num::u16::ANY, 40)
}

/// An expression of type `num` over `x`, `y` and the names in scope.
fn expression(c: &mut Choices<'_>, names: &[String], depth: usize) -> String {
    if depth == 0 || c.below(5) == 0 {
        return match c.below(3) {
            0 => names[c.below(names.len())].clone(),
            1 => ["0.5", "-1.25", "2.0", "3.0"][c.below(4)].to_string(),
            _ => ["x", "y"][c.below(2)].to_string(),
        };
    }
    let one = expression(c, names, depth - 1);
    let count = ["2", "3", "12"][c.below(3)];
    match c.below(10) {
        0 => format!("({one} + {})", expression(c, names, depth - 1)),
        1 => format!("({one} - {})", expression(c, names, depth - 1)),
        2 => format!("({one} * {})", expression(c, names, depth - 1)),
        3 => format!("sin({one})"),
        4 => format!("tanh({one})"),
        5 => format!("(if {one} > 0.25 then {} else {one} * 0.5)", expression(c, names, depth - 1)),
        6 => {
            let name = format!("z{}", names.len());
            let inner = [names, std::slice::from_ref(&name)].concat();
            format!("(let {name} = {one} in {})", expression(c, &inner, depth - 1))
        }
        7 => {
            let name = format!("s{}", names.len());
            let inner = [names, std::slice::from_ref(&name)].concat();
            let step = expression(c, &inner, depth - 1);
            format!("(fold {name} = {one} for i < {count} do 0.5 * tanh({step}) + 0.25 * {name})")
        }
        8 => format!("sum(i < {count}: {one} * num(i))"),
        _ => format!("g({one}, {count})"),
    }
}

/// A program that applies a generated function in a node, and evaluates it at the same points.
fn program(body: &str) -> String {
    format!(
        "fn g(v: num, n: int) -> num = if n == 0 then v else 0.5 * g(sin(v), n - 1);\n\
         fn f(x: num, y: num) -> num = {body};\n\
         fn w(p: (num, num)) -> num = f(p.0, p.1);\n\
         node n(x, y) -> (o) o = f(x, y);\n\
         run n {{ x: 0.5 -1.25; y: 2.0 0.75; }}\n\
         run adj_n {{ x: 0.5 -1.25; y: 2.0 0.75; do: 1.5 -1.0; }}\n\
         run tan_n {{ x: 0.5 -1.25; y: 2.0 0.75; tx: 1.0 0.5; ty: -0.5 2.0; }}\n\
         eval f(0.5, 2.0);\n\
         eval f(-1.25, 0.75);\n\
         eval vjp(w, (0.5, 2.0), 1.5);\n\
         eval vjp(w, (-1.25, 0.75), -1.0);\n\
         eval jvp(w, (0.5, 2.0), (1.0, -0.5));\n\
         eval jvp(w, (-1.25, 0.75), (0.5, 2.0));\n"
    )
}

fn agrees(body: &str) -> Trial {
    let text = program(body);
    let lines = lines(&text).map_err(|error| format!("{error}\n{text}"))?;
    let numbers: Vec<Vec<f64>> = lines.iter().map(|line| numbers_of(line)).collect();
    let (of_node, of_function) = numbers.split_at(6);
    if numbers.iter().flatten().any(|number| !number.is_finite()) {
        return Ok(Verdict::Vacuous("not finite"));
    }
    for (at, (node, function)) in of_node.iter().zip(of_function).enumerate() {
        let is_value = at < 2;
        let is_close = |(a, b): (&f64, &f64)| {
            let bound = if is_value { 0.0 } else { 1e-9 * (1.0 + a.abs() + b.abs()) };
            (a - b).abs() <= bound
        };
        if node.len() != function.len() || !node.iter().zip(function).all(is_close) {
            return Err(format!("line {at}: the node gives {node:?}, the function {function:?}\n{text}"));
        }
    }
    Ok(Verdict::Holds)
}

#[test]
fn l17_a_node_that_applies_a_function_agrees_with_it() {
    let inlined = Cell::new(0);
    law("functions in nodes: L17", 150, &numbers(), |numbers| {
        let body = expression(&mut Choices::new(numbers), &["x".to_string(), "y".to_string()], 4);
        if !["if", "12", "g("].iter().any(|control| body.contains(control)) {
            inlined.set(inlined.get() + 1);
        }
        agrees(&body)
    });
    // Both ways to compute must be tried.
    assert!(inlined.get() > 20, "{} functions are inlined", inlined.get());
}
