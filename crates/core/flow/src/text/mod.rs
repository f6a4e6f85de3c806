//! Flow as text that parses back. `eddy flow` prints it, and tests of passes read it.
//!
//! ```text
//! input i : num []
//! input bp : bool []
//! _1 : num [] = i when bp
//! _2 : num [] = post o
//! _3 : num [] = _2 when not bp
//! o : num [] = merge bp _1 _3
//! output o
//! ```
//!
//! Each line is an input, an equation, a declared clock (`clock x when c when not d`), an output, or the name
//! under which a stream is saved (`parameter NAME x`, `memory NAME x`). Equations are written as in programs,
//! but every operand is a variable; streams without a name are numbered. `--` starts a comment; `eddy flow`
//! writes the clock there.
//!
//! A constant follows the word `const` and keeps its source form: `const 0` may be of either numeric type,
//! `const 0.0` is a number, and a random initialiser carries its seed path.

mod expression;
mod parse;

use std::fmt::Write;

use eddy_tensor::Value;

use super::{Flow, Kind, Polarity, VarId};
use crate::constant::Constant;

pub use expression::print as operation;
pub use parse::{TextError, parse};

/// Prints a flow. `comment` returns the comment for a stream's line, if any; its second argument names
/// streams.
pub fn print(flow: &Flow, comment: impl Fn(VarId, &dyn Fn(VarId) -> String) -> Option<String>) -> String {
    let names = names(flow);
    let name = |var: VarId| names[var.index()].as_str();
    let comment = |var: VarId| {
        let comment = comment(var, &|other| name(other).to_string());
        comment.map_or(String::new(), |comment| format!("  -- {comment}"))
    };
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("writing to a string succeeds");
    for input in &flow.inputs {
        line(format!("input {} : {}{}", name(*input), flow.var(*input).ty, comment(*input)));
    }
    for equation in &flow.equations {
        let (out, right) = (equation.out, right_side(&equation.kind, &name));
        line(format!("{} : {} = {right}{}", name(out), flow.var(out).ty, comment(out)));
    }
    for written in &flow.clocks {
        let conditions = written.conditions.iter().map(|(condition, polarity)| {
            let not = if *polarity == Polarity::On { "" } else { "not " };
            format!(" when {not}{}", name(*condition))
        });
        line(format!("clock {}{}", name(written.var), conditions.collect::<String>()));
    }
    for output in &flow.outputs {
        line(format!("output {}", name(*output)));
    }
    for parameter in &flow.parameters {
        line(format!("parameter {} {}", parameter.name, name(parameter.var)));
    }
    for memory in &flow.persistent_state {
        line(format!("memory {} {}", memory.name, name(memory.var)));
    }
    text
}

/// The name of each stream: its own, or `_` and a number.
pub fn names(flow: &Flow) -> Vec<String> {
    let mut n_nameless = 0;
    let name = |var: &super::Var| match &var.name {
        Some(name) => name.to_string(),
        None => {
            n_nameless += 1;
            format!("_{n_nameless}")
        }
    };
    flow.vars.iter().map(name).collect()
}

fn right_side<'a>(kind: &Kind, name: &impl Fn(VarId) -> &'a str) -> String {
    match kind {
        Kind::Const(constant) => format!("const {}", constant_text(constant)),
        Kind::Apply(op, operands) => {
            let operands: Vec<&str> = operands.iter().map(|operand| name(*operand)).collect();
            expression::print(op, &operands)
        }
        Kind::When { value, condition, polarity } => {
            let not = if *polarity == Polarity::On { "" } else { "not " };
            format!("{} when {not}{}", name(*value), name(*condition))
        }
        Kind::Merge { condition, yes, no } => {
            format!("merge {} {} {}", name(*condition), name(*yes), name(*no))
        }
        Kind::Fby { init, next } => format!("{} fby {}", name(*init), name(*next)),
        Kind::FbyBack { init, next } => format!("{} fby back {}", name(*init), name(*next)),
        Kind::Post(operand) => format!("post {}", name(*operand)),
        Kind::Param(operand) => format!("param {}", name(*operand)),
    }
}

fn constant_text(constant: &Constant) -> String {
    match constant {
        Constant::Bool(truth) => truth.to_string(),
        Constant::Int(n) => n.to_string(),
        // Rust's debug form keeps the point and parses back to the same number.
        Constant::Num(x) => format!("{x:?}"),
        Constant::Ints(ns) => {
            let items: Vec<String> = ns.iter().map(i64::to_string).collect();
            format!("[{}]", items.join(","))
        }
        Constant::Initialiser(initialiser, shape, path) => format!("{} {shape} {path}", initialiser.name()),
        Constant::Value(value) => {
            let numbers: Vec<String> = value.elements().map(|element| element_text(&element)).collect();
            format!("given {} {}", value.ty(), numbers.join(" "))
        }
        Constant::Zero => "zero".to_string(),
    }
}

/// Prints a scalar such that it parses back to the same value.
fn element_text(element: &Value) -> String {
    match element {
        Value::Bool(truth) => truth.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Num(x) => format!("{x:?}"),
        Value::Num32(x) => format!("{x:?}"),
        Value::Tensor(_) => unreachable!("elements are scalars"),
    }
}
