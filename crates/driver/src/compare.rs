//! A program under every semantics that supports it, side by side.
//!
//! | item | semantics |
//! | --- | --- |
//! | `run` | `simulate`, `denote`, `plan` (the executor of plans) and `compiled`, line by line, the same text |
//! | `eval` | `interpret` and `compiled`, the same text |
//! | `fn` with written types and a derivative | `reverse`, `forward` and `differences` at random arguments, within 1e-5 |
//!
//! An item has no column for a semantics that cannot run it, such as compiled code without a static plan.
//! [`kernels`] compares programs of the other languages.

pub mod kernels;

use std::fmt;
use std::sync::Arc;

use eddy_language::functions;
use eddy_language::program::Enumerations;
use eddy_language::runs::{self, Found, RunOverrides, json_line};
use eddy_language::semantics::{Cell, simulate};
use eddy_language::tree::{Item, Run, Semantics};
use eddy_plan::execute::{self, Execution};
use eddy_syntax::Span;

use crate::engine::{Engine, EngineInput, compile};
use crate::functions::gradcheck::{FunctionEntry, FunctionGradcheck};
use crate::functions::runner::{FunctionEngine, FunctionRunner};
use crate::functions::{Budget, FunctionRequest};
use crate::gradcheck::TOLERANCE;
use crate::program::{Answer, Program};
use crate::refusal::Refusal;

/// All items of a file that can be run.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// In the order of the text.
    pub items: Vec<ComparedItem>,
}

/// One item under all its semantics.
#[derive(Clone, Debug)]
pub struct ComparedItem {
    /// The item, such as `run acc`, with its line and column.
    pub name: String,
    /// The names of the semantics, each with its lines.
    pub columns: Vec<(&'static str, Vec<String>)>,
    /// Semantics that are shown and not compared: they may differ where the others have no value.
    pub not_compared: Vec<&'static str>,
    /// The first line at which two compared semantics differ, from 0.
    pub first_difference: Option<usize>,
}

impl Comparison {
    /// Whether all semantics agree on all items.
    pub fn agrees(&self) -> bool {
        self.items.iter().all(|item| item.first_difference.is_none())
    }
}

impl Program {
    /// Runs each item of the file under every semantics that supports it.
    pub fn compare(&self, budget: Budget) -> Result<Answer<Comparison>, Refusal> {
        let mut budget = budget;
        let functions =
            functions::lower(self.resolved(), &mut budget).map_err(|found| self.refusal(found))?;
        let mut items = Vec::new();
        let entries = functions.evals.iter().map(|eval| eval.body).collect();
        let engine = Some(FunctionEngine::Compiled);
        let compiled = FunctionRunner::new(self.session(), Arc::clone(&functions.module), entries, engine);
        for (at, item) in self.tree().items.iter().enumerate() {
            match item {
                Item::Run(run) => {
                    let name = self.resolved().modules[eddy_language::program::Program::MAIN]
                        .names
                        .text(run.node.name);
                    let columns = self.bench_columns(run)?;
                    items.push(ComparedItem::new(self.named(&format!("run {name}"), run.node.span), columns));
                }
                Item::Eval(eval) => {
                    let mut limits = budget;
                    let line = functions.evaluate(at, &mut budget);
                    let line = line.unwrap_or_else(|failure| failure.title.clone());
                    let mut columns = vec![("interpret", vec![line])];
                    let lowered = functions.evals.iter().find(|lowered| lowered.item == at);
                    let lowered = lowered.expect("every evaluation was lowered");
                    let found = match compiled.run(lowered.body, &[], &mut limits) {
                        Ok(values) => lowered.show(&values),
                        Err(error) => limits.diagnostic(&error, lowered.span).title,
                    };
                    if compiled.warning().is_none() {
                        columns.push(("compiled", vec![found]));
                    }
                    items.push(ComparedItem::new(self.named("eval", eval.at), columns));
                }
                Item::Function(function) => {
                    let names = &self.resolved().modules[eddy_language::program::Program::MAIN].names;
                    let name = names.text(function.ident.name).to_string();
                    let place = self.named(&format!("fn {name}"), function.ident.span);
                    items.extend(self.function_item(name, place, budget));
                }
                _ => {}
            }
        }
        Ok(self.answer(Comparison { items }, Vec::new()))
    }

    fn named(&self, what: &str, span: Span) -> String {
        let place = self.sources().file(span).position(span.start);
        format!("{what} ({}:{})", place.line, place.column)
    }

    /// The lines of a test bench under each semantics.
    fn bench_columns(&self, run: &Run) -> Result<Vec<(&'static str, Vec<String>)>, Refusal> {
        let refuse = |found| self.refusal(found);
        let mut columns = Vec::new();
        let mut names = Vec::new();
        let mut enumerations = Enumerations::default();
        for (name, semantics) in [("simulate", Semantics::Operational), ("denote", Semantics::Denotational)] {
            let wishes = RunOverrides { semantics: Some(semantics), ..RunOverrides::default() };
            let (ran, _) = runs::run(self.resolved(), run, &wishes).map_err(refuse)?;
            enumerations = ran.enumerations;
            let Found::Cells { shown, .. } = ran.found else { continue };
            names = shown.iter().map(|(name, _)| name.clone()).collect();
            let line = |cycle: usize| shown.iter().map(|(_, cells)| cells[cycle].clone()).collect();
            let rows: Vec<Vec<Cell>> = (0..ran.n_cycles).map(line).collect();
            columns.push((name, lines(&names, &rows, &enumerations)));
        }
        let Some(ready) = runs::ready(self.resolved(), run).map_err(refuse)? else { return Ok(columns) };
        let flow = &ready.prepared.flow;
        let outputs: Vec<&str> =
            flow.outputs.iter().map(|var| flow.var(*var).name.as_deref().unwrap_or_default()).collect();
        if outputs != names {
            return Ok(columns);
        }
        let source = EngineInput {
            flow,
            clocks: &ready.prepared.clocks,
            shown: &flow.outputs,
            options: simulate::Options::default(),
            is_checked: true,
            checkpoints: false,
        };
        columns.extend(planned(&ready, &source).map(|rows| ("plan", lines(&names, &rows, &enumerations))));
        if let Ok(compilation) = compile(&source, "compared", self.session().native(), &mut |_| {}) {
            let rows = on_engine(&ready, Engine::new(source, Some(&compilation)));
            columns.extend(rows.map(|rows| ("compiled", lines(&names, &rows, &enumerations))));
        }
        Ok(columns)
    }

    /// Both derivatives of a function and finite differences; `None` if it has no derivative, or if no
    /// arguments can be generated.
    fn function_item(&self, name: String, place: String, budget: Budget) -> Option<ComparedItem> {
        let model = self.function(FunctionRequest { function: name, budget, engine: None }).ok()?;
        if !model.has_written_types() {
            return None;
        }
        let request = FunctionGradcheck { tolerance: Some(f64::INFINITY), ..FunctionGradcheck::default() };
        let Answer { value: report, .. } = model.gradcheck(&request, Vec::new()).ok()?;
        let mut entries = [report.compared, report.kinks].concat();
        entries.sort_by(|a, b| a.place.cmp(&b.place));
        let column = |value: fn(&FunctionEntry) -> f64| {
            entries.iter().map(|entry| format!("{}: {:.8}", entry.place, value(entry))).collect()
        };
        let columns = vec![
            ("reverse", column(|entry| entry.reverse)),
            ("forward", column(|entry| entry.forward)),
            ("differences", column(|entry| entry.difference)),
        ];
        let is_wrong =
            |entry: &FunctionEntry| !entry.is_kink && (entry.error().is_nan() || entry.error() > TOLERANCE);
        let first_difference = entries.iter().position(is_wrong);
        Some(ComparedItem { name: place, columns, not_compared: Vec::new(), first_difference })
    }
}

impl ComparedItem {
    /// Compares the columns line by line.
    fn new(name: String, columns: Vec<(&'static str, Vec<String>)>) -> ComparedItem {
        let n_lines = columns.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
        let differs = |at: &usize| columns.iter().any(|(_, lines)| lines.get(*at) != columns[0].1.get(*at));
        let first_difference = (0..n_lines).find(differs);
        ComparedItem { name, columns, not_compared: Vec::new(), first_difference }
    }
}

fn lines(names: &[String], rows: &[Vec<Cell>], enumerations: &Enumerations) -> Vec<String> {
    let cells = |row: &Vec<Cell>| json_line(names.iter().map(String::as_str).zip(row), enumerations);
    let line = |row: &Vec<Cell>| cells(row).trim_end().to_string();
    rows.iter().map(line).collect()
}

/// The outputs by executing a plan; `None` if no plan runs the whole item.
fn planned(ready: &runs::Ready, source: &EngineInput<'_>) -> Option<Vec<Vec<Cell>>> {
    let plan = eddy_plan::plan(source.flow, source.clocks, &eddy_plan::Options::default());
    let mut execution = Execution::new(source.flow, source.clocks, &plan).ok()?;
    let mut rows = Vec::new();
    for cycle in 0..ready.n_cycles {
        let inputs: Vec<execute::Cell> = ready.inputs.iter().map(|cells| given(&cells[cycle])).collect();
        execution.step(&inputs).ok()?;
    }
    execution.finish().ok()?;
    while let Some(cells) = execution.next_row() {
        rows.push(cells.into_iter().map(found).collect());
    }
    (rows.len() == ready.n_cycles).then_some(rows)
}

fn given(cell: &Cell) -> execute::Cell {
    match cell {
        Cell::Value(value) => execute::Cell::Value(value.clone()),
        Cell::Absent => execute::Cell::Absent,
        _ => execute::Cell::Unknown,
    }
}

fn found(cell: execute::Cell) -> Cell {
    match cell {
        execute::Cell::Value(value) => Cell::Value(value),
        execute::Cell::Absent => Cell::Absent,
        execute::Cell::Unknown | execute::Cell::Present => Cell::Unknown,
    }
}

/// The rows of an engine; `None` if it fails.
fn on_engine(ready: &runs::Ready, mut engine: Engine<'_>) -> Option<Vec<Vec<Cell>>> {
    let mut rows = Vec::new();
    for cycle in 0..ready.n_cycles {
        let inputs: Vec<Cell> = ready.inputs.iter().map(|cells| cells[cycle].clone()).collect();
        engine.open(&inputs).ok()?;
        rows.extend(std::iter::from_fn(|| engine.next_row()));
    }
    engine.end().ok()?;
    rows.extend(std::iter::from_fn(|| engine.next_row()));
    (rows.len() == ready.n_cycles).then_some(rows)
}

/// A table for each item; an arrow marks the first line at which two semantics differ.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for item in &self.items {
            let n_compared = item.columns.len() - item.not_compared.len();
            let verdict = match (item.first_difference, n_compared) {
                (Some(at), _) => format!("differs at line {}", at + 1),
                (None, 0 | 1) => "one semantics".to_string(),
                (None, n) => format!("{n} semantics agree"),
            };
            let others = match &*item.not_compared {
                [] => String::new(),
                names => format!("; not compared: {}", names.join(", ")),
            };
            writeln!(f, "{}: {verdict}{others}", item.name)?;
            let width = |(name, lines): &(&str, Vec<String>)| {
                lines.iter().map(|line| line.chars().count()).chain([name.len()]).max().unwrap_or(0)
            };
            let widths: Vec<usize> = item.columns.iter().map(width).collect();
            let n_lines = item.columns.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
            let mut write = |mark: &str, cells: Vec<&str>| {
                let cells: Vec<String> =
                    cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
                writeln!(f, "{mark} {}", cells.join("  ").trim_end())
            };
            write(" ", item.columns.iter().map(|(name, _)| *name).collect())?;
            for at in 0..n_lines {
                let mark = if item.first_difference == Some(at) { ">" } else { " " };
                let cell = |(_, lines): &'_ (&str, Vec<String>)| lines.get(at).cloned().unwrap_or_default();
                let cells: Vec<String> = item.columns.iter().map(cell).collect();
                write(mark, cells.iter().map(String::as_str).collect())?;
            }
        }
        Ok(())
    }
}
