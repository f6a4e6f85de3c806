//! Functions: `run --fn`, `gradcheck --fn`, and the limits of calls.

use std::fmt::{self, Write};
use std::num::NonZeroUsize;

use clap::{Args, value_parser};
use eddy_driver::functions::gradcheck::{FunctionEntry, FunctionGradcheck, FunctionGradients};
use eddy_driver::functions::{Budget, Checkpoints, NoResult, Outcome};
use eddy_driver::{self as driver, Answer, Data, FunctionRequest, Program};
use eddy_syntax::Sources;
use serde_json::{Value as Json, json};

use super::{load, refused, rows};
use crate::answers::Answers;
use crate::report::Form;
use crate::session::{Ended, Session};
use crate::status::Status;
use crate::stop::Stop;

/// Limits of nested calls and derivatives of functions.
#[derive(Args)]
pub struct Nesting {
    /// Stop when more than N calls of functions are inside each other [default: 1000000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    depth: Option<u64>,
    /// Stop when a derivative operator is active more than K times at once, through a recursion [default: 4]
    #[arg(long, value_name = "K", value_parser = value_parser!(u64).range(1..=64))]
    order: Option<u64>,
    #[command(flatten)]
    states: Keep,
}

/// Checkpoints of functions.
#[derive(Args)]
pub struct Keep {
    /// Keep K states of each loop of a function for its adjoint, which runs the iterations between them again
    /// [default: all states]
    #[arg(long, value_name = "K", value_parser = value_parser!(u64).range(1..))]
    keep_states: Option<u64>,
}

impl Keep {
    pub fn checkpoints(&self) -> Checkpoints {
        checkpoints(self.keep_states)
    }
}

/// The checkpoints that `--keep-states` requests.
pub fn checkpoints(keep: Option<u64>) -> Checkpoints {
    let keep = keep.map(|keep| usize::try_from(keep).unwrap_or(usize::MAX));
    keep.and_then(NonZeroUsize::new).map_or(Checkpoints::All, Checkpoints::Keep)
}

impl Nesting {
    /// The limits of a command; `memory` is in bytes.
    pub fn budget(&self, fuel: Option<u64>, memory: Option<usize>) -> Budget {
        let default = Budget::default();
        let count = |given: Option<u64>, default: usize| {
            given.map_or(default, |n| usize::try_from(n).unwrap_or(usize::MAX))
        };
        let (depth, order) = (count(self.depth, default.depth), count(self.order, default.order));
        Budget { fuel, depth, memory, order, checkpoints: self.states.checkpoints() }
    }
}

/// Calls a function with data, and prints each result as soon as it is known; JSON is one object at the end.
pub fn call(
    session: &Session,
    program: &Program,
    request: FunctionRequest,
    data: Vec<Data>,
    sources: &mut Sources,
    answers: &mut Answers,
) -> Result<Ended, fmt::Error> {
    let name = request.function.clone();
    let mut calls = match program.function(request).and_then(|model| model.calls(data)) {
        Ok(calls) => calls,
        Err(refusal) => return Ok(refused(refusal, sources)),
    };
    *sources = program.sources().clone();
    let is_json = matches!(session.form, Form::Json);
    let (mut text, mut stopped) = (String::new(), None);
    loop {
        if calls.is_waiting() {
            answers.flush_now();
        }
        match calls.next() {
            Some(Ok(result)) if is_json => text.push_str(&line(&result)),
            Some(Ok(result)) => answers.write_str(&line(&result))?,
            Some(Err(no_result)) => {
                stopped = Some(no_result);
                break;
            }
            None => break,
        }
    }
    let mut diagnostics = [program.warnings(), &calls.warnings()].concat();
    let status = match stopped {
        None => Status::Answered,
        Some(NoResult::Refused(refusal)) => {
            let ended = refused(refusal, sources);
            return Ok(Ended { diagnostics: [diagnostics, ended.diagnostics].concat(), ..ended });
        }
        Some(NoResult::Failed(refusal)) => {
            *sources = refusal.sources;
            diagnostics.extend(refusal.diagnostics);
            Status::NoValue
        }
    };
    let answer = session
        .form
        .as_data(|| json!({ "kind": "calls", "function": name, "results": rows::objects(&text) }));
    let ended = Ended { status, answer, diagnostics, stats: Vec::new() };
    if is_json {
        session.write_whole(&text, &ended, answers)?;
    }
    Ok(ended)
}

fn line(result: &Outcome) -> String {
    format!("{result}\n")
}

/// Compares the derivatives of a function with finite differences.
pub fn check_function(
    session: &Session,
    limits: driver::Limits,
    request: FunctionRequest,
    check: &FunctionGradcheck,
    data: Vec<Data>,
) -> Result<Status, Stop> {
    session.conclude(None, |sources, answers| {
        let program = match load(sources.clone(), limits) {
            Ok(program) => program,
            Err(refusal) => return Ok(refused(refusal, sources)),
        };
        let model = match program.function(request) {
            Ok(model) => model,
            Err(refusal) => return Ok(refused(refusal, sources)),
        };
        match model.gradcheck(check, data) {
            Ok(Answer { value: report, warnings }) => {
                *sources = program.sources().clone();
                let answer = session.form.as_data(|| gradients(&report));
                let ended = Ended { diagnostics: warnings, ..Ended::answered(answer) };
                session.write_whole(&report.to_string(), &ended, answers)?;
                Ok(ended)
            }
            Err(NoResult::Refused(refusal)) => Ok(refused(refusal, sources)),
            Err(NoResult::Failed(refusal)) => {
                Ok(Ended { status: Status::NoValue, ..refused(refusal, sources) })
            }
        }
    })
}

/// The report for scripts.
fn gradients(report: &FunctionGradients) -> Json {
    let entry = |entry: &FunctionEntry| {
        json!({
            "place": entry.place,
            "call": entry.call,
            "reverse": entry.reverse,
            "forward": entry.forward,
            "difference": entry.difference,
            "error": entry.error(),
        })
    };
    let entries = |of: &[FunctionEntry]| of.iter().map(entry).collect::<Vec<Json>>();
    json!({
        "function": report.function,
        "tolerance": report.tolerance,
        "entries": report.n_entries,
        "calls": report.n_calls,
        "compared": entries(&report.compared),
        "kinks": entries(&report.kinks),
    })
}
