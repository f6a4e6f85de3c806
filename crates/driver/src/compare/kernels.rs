//! Programs of the kernels under all their engines, and as functions.
//!
//! | language | its own semantics |
//! | --- | --- |
//! | `rd` | `tape`, `reference`, `transform` where it applies, `denote` where the program nests little |
//! | `pullback` | `fast`, `reference`, `translation` |
//! | `coherent` | `env`, `det`, and `nd` without coins |
//! | `lam` | `closures`; `ask`, whether the declarative meaning has the value |
//!
//! A program that has a translation to functions is also run by `interpret` and `compiled`, and each function
//! that it exports has an item with its derivatives. Engines of one language give equal numbers within 1e-9;
//! so does the translation where the kernel has a value. Where the kernel has no value, the function may
//! return an infinity or take a branch at a tie; its value is then shown but not compared.

use std::sync::Arc;

use eddy_body::{BodyId, Failure, RunError};
use eddy_coherent::outcome::LeafResult;
use eddy_coherent::requests as coherent;
use eddy_language::functions::{self, Evaluation};
use eddy_language::kernels::Kernel;
use eddy_language::program::Program as Resolved;
use eddy_language::tree::Item;
use eddy_pullback::outcome::{Leaf, Outcome as PullbackOutcome};
use eddy_pullback::requests as pullback;
use eddy_rd::outcome::Outcome as RdOutcome;
use eddy_rd::requests as rd;
use eddy_syntax::{Diagnostic, Severity, SourceFile, Sources};
use eddy_tables::ask::Answer as Membership;
use eddy_tables::requests as tables;
use eddy_tables::run::Shown;
use eddy_tensor::Value;

use super::{ComparedItem, Comparison};
use crate::functions::Budget;
use crate::functions::runner::{FunctionEngine, FunctionRunner};
use crate::program::{Answer, Program};
use crate::refusal::Refusal;
use crate::session::Session;

/// The limits of the runs of a comparison; `None` means the limit of each language.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelLimits {
    /// Calls, steps or applications.
    pub fuel: Option<u64>,
    /// Bytes of a program's data.
    pub memory: Option<u64>,
}

/// The default fuel of a translation, so that the run of a diverging program ends.
const FUEL: u64 = 100_000_000;

/// The tolerated difference of two numbers (functions.md, section 10).
const TOLERANCE: f64 = 1e-9;

/// The result of a program under one semantics.
struct Column {
    name: &'static str,
    lines: Vec<String>,
    /// Its numbers, if it is a value.
    numbers: Option<Vec<f64>>,
    /// Whether it must agree with the first one.
    is_compared: bool,
}

impl Session {
    /// Runs a program of a kernel under all semantics that support it. If it has no translation, a warning
    /// gives the reason.
    pub fn compare_kernel(
        &self,
        kernel: Kernel,
        sources: Sources,
        limits: KernelLimits,
    ) -> Result<(Answer<Comparison>, Sources), Refusal> {
        let mut columns = engines(kernel, sources.main(), limits)
            .map_err(|diagnostics| Refusal { diagnostics, sources: sources.clone() })?;
        let mut name = format!("{} program", kernel.name());
        let (mut functions, mut warnings) = (Vec::new(), Vec::new());
        let files = match self.load_kernel(kernel, sources.clone()) {
            Ok(program) => {
                let budget = Budget {
                    fuel: Some(limits.fuel.unwrap_or(FUEL)),
                    memory: limits.memory.and_then(|bytes| usize::try_from(bytes).ok()),
                    ..Budget::default()
                };
                match program.evaluated(budget, &columns) {
                    Ok((place, found)) => {
                        name = program.named(&name, place);
                        columns.extend(found);
                        functions = program.exported(budget);
                    }
                    Err(refusal) => warnings = refusal.diagnostics,
                }
                program.sources().clone()
            }
            Err(refusal) => {
                warnings = refusal.diagnostics;
                refusal.sources
            }
        };
        let warnings = warnings.into_iter().map(|found| Diagnostic { severity: Severity::Warning, ..found });
        let items = [vec![item(name, columns)], functions].concat();
        Ok((Answer { value: Comparison { items }, warnings: warnings.collect() }, files))
    }
}

impl Program {
    /// The value of a translation by both engines, and the place of the program.
    fn evaluated(
        &self,
        budget: Budget,
        known: &[Column],
    ) -> Result<(eddy_syntax::Span, Vec<Column>), Refusal> {
        let functions =
            functions::lower(self.resolved(), &mut budget.clone()).map_err(|found| self.refusal(found))?;
        let items = &self.tree().items;
        let at =
            items.iter().position(|item| matches!(item, Item::Eval(_))).expect("a translation has an `eval`");
        let eval = functions.evaluation(at);
        let has_value = known[0].numbers.is_some();
        let mut columns = Vec::new();
        for (name, engine) in
            [("interpret", FunctionEngine::Interpret), ("compiled", FunctionEngine::Compiled)]
        {
            let module = Arc::clone(&functions.module);
            let runner = FunctionRunner::new(self.session(), module, vec![eval.body], Some(engine));
            let found = run(&runner, eval.body, budget);
            if runner.warning().is_none() {
                columns.push(evaluation_column(name, eval, found, budget, has_value));
            }
        }
        Ok((eval.span, columns))
    }

    /// The derivatives of the functions that the program defines.
    fn exported(&self, budget: Budget) -> Vec<ComparedItem> {
        let module = &self.resolved().modules[Resolved::MAIN];
        let exports = module.exports.as_deref().unwrap_or_default();
        let mut items = Vec::new();
        for item in &module.tree.items {
            let Item::Function(function) = item else { continue };
            let name = module.names.text(function.ident.name).to_string();
            if exports.contains(&name) {
                let place = self.named(&format!("fn {name}"), function.ident.span);
                items.extend(self.function_item(name, place, budget));
            }
        }
        items
    }
}

fn run(runner: &FunctionRunner, body: BodyId, budget: Budget) -> Result<Vec<Value>, RunError> {
    runner.run(body, &[], &mut budget.clone())
}

fn evaluation_column(
    name: &'static str,
    eval: &Evaluation,
    found: Result<Vec<Value>, RunError>,
    budget: Budget,
    has_value: bool,
) -> Column {
    match found {
        Ok(values) => Column {
            name,
            lines: vec![eval.show(&values)],
            numbers: Some(values.iter().map(number).collect()),
            is_compared: has_value,
        },
        Err(error) => {
            // A run that reached a limit has an unknown value, and integers of kernels are unbounded.
            let is_limit = matches!(
                error.failure,
                Failure::Fuel | Failure::Depth | Failure::Memory | Failure::Order | Failure::Overflow
            );
            let title = budget.diagnostic(&error, eval.span).title;
            Column { name, lines: vec![title], numbers: None, is_compared: has_value && !is_limit }
        }
    }
}

/// The values of kernels consist of single numbers.
#[allow(clippy::cast_precision_loss)] // large integers of the kernel are rounded in the same way
fn number(value: &Value) -> f64 {
    match value {
        Value::Num(number) => *number,
        Value::Int(number) => *number as f64,
        other => unreachable!("{other:?} is no value of a kernel"),
    }
}

/// Two semantics agree if their numbers do, or if both have none for the same reason.
fn item(name: String, columns: Vec<Column>) -> ComparedItem {
    let first = &columns[0];
    let agrees = |column: &Column| match (&first.numbers, &column.numbers) {
        (Some(left), Some(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(x, y)| are_close(*x, *y))
        }
        (None, None) => first.lines == column.lines,
        _ => false,
    };
    let differs = columns.iter().find(|column| column.is_compared && !agrees(column));
    let first_difference = differs.map(|column| {
        let is_other = |at: &usize| first.lines.get(*at) != column.lines.get(*at);
        (0..first.lines.len().max(column.lines.len())).find(is_other).unwrap_or(0)
    });
    let not_compared =
        columns.iter().filter(|column| !column.is_compared).map(|column| column.name).collect();
    let columns = columns.into_iter().map(|column| (column.name, column.lines)).collect();
    ComparedItem { name, columns, not_compared, first_difference }
}

fn are_close(x: f64, y: f64) -> bool {
    (x - y).abs() <= TOLERANCE * x.abs().max(y.abs()).max(1.0)
}

/// The program by the engines of its own language.
fn engines(kernel: Kernel, file: &SourceFile, limits: KernelLimits) -> Result<Vec<Column>, Vec<Diagnostic>> {
    match kernel {
        Kernel::Rd => by_rd(file, limits),
        Kernel::Pullback => by_pullback(file, limits),
        Kernel::Coherent => by_coherent(file, limits),
        Kernel::Lam => by_lam(file, limits),
    }
}

fn column(name: &'static str, text: &str, numbers: Option<Vec<f64>>) -> Column {
    Column { name, lines: text.lines().map(str::to_string).collect(), numbers, is_compared: true }
}

fn by_rd(file: &SourceFile, limits: KernelLimits) -> Result<Vec<Column>, Vec<Diagnostic>> {
    let default = eddy_rd::outcome::Limits::default();
    let limits = eddy_rd::outcome::Limits {
        fuel: limits.fuel.unwrap_or(default.fuel),
        memory: limits.memory.unwrap_or(default.memory),
    };
    let compared = rd::Compare { limits }.answer(file)?;
    let column = |(name, report): &(&'static str, eddy_rd::engine::Report)| {
        let numbers = match &report.outcome {
            RdOutcome::Value(value) => Some(value.leaves()),
            RdOutcome::Interval(..)
            | RdOutcome::Undefined(_)
            | RdOutcome::Diverged
            | RdOutcome::OutOfMemory => None,
        };
        column(name, &report.to_string(), numbers)
    };
    Ok(compared.reports.iter().map(column).collect())
}

fn by_pullback(file: &SourceFile, limits: KernelLimits) -> Result<Vec<Column>, Vec<Diagnostic>> {
    let default = eddy_pullback::outcome::Limits::default();
    let limits = eddy_pullback::outcome::Limits {
        fuel: limits.fuel.unwrap_or(default.fuel),
        memory: limits.memory.unwrap_or(default.memory),
    };
    let compared = pullback::Compare { limits }.answer(file)?;
    let column = |ran: &pullback::Ran| {
        let numbers = match &ran.report.outcome {
            PullbackOutcome::Value(answer) => {
                let number = |leaf: &Leaf| if let Leaf::Real(value) = leaf { Some(*value) } else { None };
                Some(answer.leaves.iter().filter_map(number).collect())
            }
            PullbackOutcome::Open(_) | PullbackOutcome::Stopped(_) => None,
        };
        let text = ran.diagnostic.as_ref().map_or_else(|| ran.to_string(), |found| found.title.clone());
        column(ran.report.engine.name(), &text, numbers)
    };
    Ok(compared.runs.iter().map(column).collect())
}

fn by_coherent(file: &SourceFile, limits: KernelLimits) -> Result<Vec<Column>, Vec<Diagnostic>> {
    let compared = coherent::Compare { fuel: limits.fuel, memory: limits.memory }.answer(file)?;
    #[allow(clippy::cast_precision_loss)] // large numbers of functions are rounded in the same way
    let number = |leaf: &eddy_coherent::engine::Leaf| match leaf.result {
        LeafResult::Value { value, .. } => Some(value as f64),
        LeafResult::Empty | LeafResult::Distribution(_) => None,
    };
    let column = |(name, ran): &(&'static str, coherent::Ran)| match &ran.leaves {
        Ok(leaves) => column(name, &leaves.to_string(), leaves.leaves.iter().map(number).collect()),
        Err(_) => {
            let title = ran.diagnostic.as_ref().map(|found| found.title.clone()).unwrap_or_default();
            // The machines count different steps.
            Column { is_compared: false, ..column(name, &title, None) }
        }
    };
    Ok(compared.runs.iter().map(column).collect())
}

fn by_lam(file: &SourceFile, limits: KernelLimits) -> Result<Vec<Column>, Vec<Diagnostic>> {
    let default = eddy_tables::run::Limits::default();
    let limits = eddy_tables::run::Limits {
        fuel: limits.fuel.unwrap_or(default.fuel),
        memory: limits.memory.unwrap_or(default.memory),
    };
    let tables::Compared { ran, asked } = tables::Compare { limits }.answer(file)?;
    let (text, numbers) = match &ran.outcome {
        Ok(Shown(value)) => (value.clone(), value.parse::<f64>().ok().map(|number| vec![number])),
        Err(_) => (ran.diagnostic.as_ref().map(|found| found.title.clone()).unwrap_or_default(), None),
    };
    let mut columns = vec![column("closures", &text, numbers.clone())];
    match asked {
        Some(Membership::Yes) => columns.push(column("ask", &text, numbers)),
        Some(Membership::No) => columns.push(column("ask", &format!("not {text}"), None)),
        Some(Membership::Unknown) | None => {}
    }
    Ok(columns)
}
