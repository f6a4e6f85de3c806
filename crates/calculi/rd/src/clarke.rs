//! Clarke reports at kinks (section 14, `use clarke`).
//!
//! At a kink a function has no derivative, but it has limits of derivatives from each side. If the program is
//! a derivative, [`explore`] runs it once for each combination of choices at the ties of its body, depth
//! first. If the body has the same value in all runs, the answer is the smallest box that contains all the
//! derivatives; for one kink this box is the Clarke subgradient.

use std::fmt::Write;

use eddy_syntax::real::Real;

use crate::engine::Report;
use crate::operation::Undefined;
use crate::outcome::{Counters, Limits, Outcome, Ties};
use crate::syntax::{Program, Term, VarId};
use crate::value::Value;

/// The variable of the final derivative of the program, after lets and definitions.
pub fn main_derivative(program: &Program) -> Option<VarId> {
    let mut term = program.main;
    loop {
        match program.terms.term(term) {
            Term::Let { body, .. } | Term::Letrec { body, .. } => term = body,
            Term::Rd { var, .. } => return Some(var),
            _ => return None,
        }
    }
}

/// Runs the program once for each combination of choices at ties, and joins the answers. `run` receives the
/// ties to use and a slot for the value of the body; it fills the slot if it meets a tie.
pub fn explore(
    limits: Limits,
    mut run: impl FnMut(&mut Ties, &mut Option<Value>) -> (Outcome, Counters),
) -> Report {
    let mut ties = Ties::default();
    let mut total = Counters::default();
    let mut common: Option<Value> = None;
    let mut bounds: Option<(Value, Value)> = None;
    loop {
        let mut body = None;
        let (outcome, counters) = run(&mut ties, &mut body);
        total.calls += counters.calls;
        total.recorded += counters.recorded;
        total.bytes = total.bytes.max(counters.bytes);
        let Outcome::Value(value) = outcome else { return Report { outcome, counters: total, limits } };
        if let (Some(before), Some(now)) = (&common, &body)
            && !before.equals(now)
        {
            return Report { outcome: Outcome::Undefined(Undefined::Jump), counters: total, limits };
        }
        common = common.or(body);
        bounds = Some(match bounds {
            None => (value.clone(), value),
            Some((low, high)) => (combine(&low, &value, f64::min), combine(&high, &value, f64::max)),
        });
        match ties.next_path() {
            Some(next) => ties = next,
            None => break,
        }
    }
    let (low, high) = bounds.expect("at least one path was run");
    let outcome = if low.equals(&high) { Outcome::Value(low) } else { Outcome::Interval(low, high) };
    Report { outcome, counters: total, limits }
}

/// Combines two values of one type, real by real.
fn combine(left: &Value, right: &Value, with: fn(f64, f64) -> f64) -> Value {
    enum Task<'a> {
        Build(&'a Value, &'a Value),
        Join,
    }
    let mut done = Vec::new();
    let mut tasks = vec![Task::Build(left, right)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Build(Value::Real(x), Value::Real(y)) => done.push(Value::Real(with(*x, *y))),
            Task::Build(left @ Value::Pair(_), right) => {
                let ((a, b), (c, d)) = (left.halves(), right.halves());
                tasks.extend([Task::Join, Task::Build(b, d), Task::Build(a, c)]);
            }
            Task::Build(..) => done.push(Value::Unit),
            Task::Join => {
                let second = done.pop().expect("both halves are built");
                let first = done.pop().expect("both halves are built");
                done.push(Value::pair(first, second));
            }
        }
    }
    done.pop().expect("one value is built")
}

/// The text of a box: `[lo, hi]` for each real, or the number where both agree.
pub fn show(low: &Value, high: &Value) -> String {
    enum Task<'a> {
        Word(&'static str),
        Show(&'a Value, &'a Value),
    }
    let mut out = String::new();
    let mut tasks = vec![Task::Show(low, high)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Word(word) => out.push_str(word),
            Task::Show(Value::Real(x), Value::Real(y)) if x == y => out.push_str(&Real(*x).to_string()),
            Task::Show(Value::Real(x), Value::Real(y)) => {
                let _ = write!(out, "[{}, {}]", Real(*x), Real(*y));
            }
            Task::Show(low @ Value::Pair(_), high) => {
                let ((a, b), (c, d)) = (low.halves(), high.halves());
                tasks.extend([
                    Task::Word(")"),
                    Task::Show(b, d),
                    Task::Word(", "),
                    Task::Show(a, c),
                    Task::Word("("),
                ]);
            }
            Task::Show(..) => out.push_str("()"),
        }
    }
    out
}
