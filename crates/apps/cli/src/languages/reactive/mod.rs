//! The language of `.eddy` files: `check`, `run`, `trace`, `flow`, `gradcheck`, `compare`, `diff`, `plan`,
//! `train` and `build`. Arguments become requests of the driver; its answers are printed as text and as JSON.
//!
//! * [`running`]: `run` and `trace`. [`functions`]: `run` and `gradcheck` of functions. [`derivatives`]:
//!   `diff`, `gradcheck` and `train`. [`planning`] and [`building`]: `plan` and `build`.
//! * [`comparing`]: every semantics side by side. [`testing`]: benches and what they expect.
//!   [`documenting`]: pages about programs.
//! * [`data`]: the data files of a program. [`rows`]: the results of runs. [`listener`]: announcements of the
//!   driver.

pub mod building;
mod comparing;
mod data;
pub mod derivatives;
mod documenting;
pub mod functions;
mod listener;
mod planning;
mod rows;
mod running;
mod testing;

use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

use clap::{Args, value_parser};
use eddy_driver::program::MemoryReport;
use eddy_driver::{
    self as driver, Answer, BuildOptions, Deaf, EngineKind, GivenParameters, Program, Refusal,
};
use eddy_formats::{Encoding, Saved};
use eddy_language::check::NodeReport;
use eddy_language::{codes, format};
use eddy_syntax::{Code, Diagnostic, SourceFile, Sources};
use eddy_tensor::Value;
use serde_json::{Value as Json, json};

use super::{Language, Offer};
use crate::args::{bytes, mebibytes};
use crate::commands::Command;
use crate::report::Form;
use crate::session::{Ended, Session};
use crate::status::Status;
use crate::stop::{Stop, reason};
use crate::{build, train};
pub use comparing::compare_kernel;
pub use data::{DataArgs, open_all};
pub use listener::Announcer;

pub struct Reactive;

impl Language for Reactive {
    fn name(&self) -> &'static str {
        "reactive"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["eddy"]
    }

    fn engines(&self) -> Vec<&'static str> {
        EngineKind::ALL.map(EngineKind::name).to_vec()
    }

    fn codes(&self) -> Vec<Code> {
        codes::all()
    }

    fn unreadable(&self) -> Code {
        codes::LEXICAL
    }

    fn offers(&self) -> Vec<Offer> {
        vec![
            Offer::new(Command::Check, check),
            Offer::new(Command::Run, running::run),
            Offer::new(Command::Trace, running::trace),
            Offer::new(Command::Gradcheck, derivatives::gradcheck),
            Offer::new(Command::Compare, comparing::compare),
            Offer::new(Command::Test, testing::test),
            Offer::new(Command::Doc, documenting::doc),
            Offer::new(Command::Train, train::train),
            Offer::new(Command::Flow, flow),
            Offer::new(Command::Diff, derivatives::diff),
            Offer::new(Command::Plan, planning::plan),
            Offer::new(Command::Build, build::build),
        ]
    }

    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
        format(file)
    }
}

/// The limit of equations of a program.
#[derive(Args)]
pub struct EquationLimit {
    /// Refuse a program with more than N equations once its nodes are inlined [default: 2097152]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub equations: Option<u64>,
}

impl EquationLimit {
    /// The driver's limits, with `memory` in bytes.
    fn read(&self, memory: Option<u64>) -> driver::Limits {
        driver::Limits::new(self.equations, memory)
    }
}

/// Limits of a program's size for commands that do not run it.
#[derive(Args)]
pub struct Limits {
    #[command(flatten)]
    pub equations: EquationLimit,
    /// Refuse a program whose values of one cycle take more than this many mebibytes, or whose equations do
    /// [default: 16384]
    #[arg(long, value_name = "MIB", value_parser = mebibytes())]
    memory: Option<u64>,
}

impl Limits {
    pub fn read(&self) -> driver::Limits {
        self.equations.read(self.memory.map(bytes))
    }

    /// The limit of memory as the user gave it.
    pub fn mebibytes(&self) -> Option<u64> {
        self.memory
    }
}

#[derive(Args)]
struct CheckArgs {
    #[command(flatten)]
    limit: EquationLimit,
    /// Print for each output how far it looks ahead and how much is kept; for each function, how much its
    /// adjoint keeps
    #[arg(long)]
    memory: bool,
    #[command(flatten)]
    states: functions::Keep,
}

#[derive(Args)]
struct FlowArgs {
    /// Print the equations of this node
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    #[command(flatten)]
    limits: Limits,
}

fn check(args: CheckArgs, session: &Session) -> Result<Status, Stop> {
    let CheckArgs { limit, memory, states } = args;
    let memory = if memory { MemoryReport::Included(states.checkpoints()) } else { MemoryReport::LeftOut };
    reply(session, limit.read(None), |program| {
        let Answer { value: report, warnings } = program.check(memory)?;
        let node = |node: &NodeReport| json!({ "name": node.name, "lines": lines(&node.text) });
        let nodes: Vec<Json> = report.nodes.iter().map(node).collect();
        let functions: String = report.functions.iter().map(|function| function.text.as_str()).collect();
        let answer = json!({ "nodes": nodes, "functions": lines(&functions) });
        Ok(Rendered { text: report.to_string(), answer, warnings, sources: program.sources().clone() })
    })
}

fn flow(args: FlowArgs, session: &Session) -> Result<Status, Stop> {
    let FlowArgs { node, limits } = args;
    reply(session, limits.read(), |program| {
        let Answer { value: nodes, warnings } = program.equations(node.as_deref())?;
        let texts: Vec<(&str, String)> =
            nodes.iter().map(|node| (node.name.as_str(), node.to_string())).collect();
        let node = |(name, text): &(&str, String)| json!({ "name": name, "lines": lines(text) });
        let answer = json!({ "nodes": texts.iter().map(node).collect::<Vec<_>>() });
        let text = texts.into_iter().map(|(_, text)| text).collect();
        Ok(Rendered { text, answer, warnings, sources: program.sources().clone() })
    })
}

/// An answer of the driver: as text, as data, and its warnings.
struct Rendered {
    text: String,
    answer: Json,
    warnings: Vec<Diagnostic>,
    /// The files that the warnings refer to.
    sources: Sources,
}

/// Loads the program, asks the driver about it, and prints the whole answer on standard output.
fn reply(
    session: &Session,
    limits: driver::Limits,
    ask: impl FnOnce(&Program) -> Result<Rendered, Refusal>,
) -> Result<Status, Stop> {
    session.conclude(None, |sources, answers| {
        match load(sources.clone(), limits).and_then(|program| ask(&program)) {
            Ok(rendered) => {
                *sources = rendered.sources;
                let ended = Ended { diagnostics: rendered.warnings, ..Ended::answered(rendered.answer) };
                session.write_whole(&rendered.text, &ended, answers)?;
                Ok(ended)
            }
            Err(refusal) => Ok(refused(refusal, sources)),
        }
    })
}

/// Loads a program for questions that compile no C and so have nothing to announce.
pub fn load(sources: Sources, limits: driver::Limits) -> Result<Program, Refusal> {
    driver::Session::new(settings(None, limits), Arc::new(Deaf)).load(sources)
}

/// The settings of a session of the driver.
pub fn settings(n_threads: Option<usize>, limits: driver::Limits) -> driver::Options {
    let threads = n_threads.and_then(NonZero::new);
    driver::Options { threads, limits, building: BuildOptions::from_environment() }
}

/// The end of a command whose program or data are refused; `sources` becomes the files of the diagnostics.
fn refused(refusal: Refusal, sources: &mut Sources) -> Ended {
    *sources = refusal.sources;
    Ended::refused(refusal.diagnostics)
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// An error that was already reported on standard error.
pub struct Reported;

/// The values of a file of parameters, if one is given, and the encoding of the data that they were learnt
/// from.
pub fn given_parameters(
    path: Option<&Path>,
    form: Form,
) -> Result<(Option<GivenParameters>, Encoding), Reported> {
    let Some(path) = path else { return Ok((None, Encoding::default())) };
    let from = path.display().to_string();
    match parameters(path) {
        Ok((values, encoding)) => Ok((Some(GivenParameters { from, values }), encoding)),
        Err(message) => {
            form.failure(&from, &message);
            Err(Reported)
        }
    }
}

/// Values by name.
type Values = Vec<(String, Value)>;

/// The values and the encoding of a file of parameters, or the reason why it cannot be read.
pub fn parameters(path: &Path) -> Result<(Values, Encoding), String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read the file: {}", reason(&error)))?;
    let saved = Saved::decode(&bytes).map_err(|error| format!("is no file of parameters: {error}"))?;
    Encoding::split(saved).map_err(|why| format!("is damaged: {why}"))
}

/// Parses the number of streams in lock-step.
fn streams(text: &str) -> Result<usize, String> {
    count(text, 1 << 20)
}

/// Parses a number of cycles whose inputs are generated, and kept in memory.
fn generated_cycles(text: &str) -> Result<u64, String> {
    count(text, 1 << 16).map(|n| n as u64)
}

/// Parses a number of threads.
fn threads(text: &str) -> Result<usize, String> {
    count(text, 1 << 10)
}

fn count(text: &str, most: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=most).contains(&n) => Ok(n),
        _ => Err(format!("it is a whole number from 1 to {most}")),
    }
}

/// Parses a number of significant digits.
fn digits(text: &str) -> Result<usize, String> {
    count(text, 17)
}

fn named_constant(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as `units=3`")?;
    Ok((name.trim().to_string(), value.trim().to_string()))
}

fn named_shape(text: &str) -> Result<(String, String), String> {
    let (name, shape) = text.split_once('=').ok_or("write NAME=[SIZES], such as `x=[3]`")?;
    Ok((name.trim().to_string(), shape.trim().to_string()))
}

/// A number of cycles as `usize`.
pub fn cycles(given: u64) -> usize {
    usize::try_from(given).unwrap_or(usize::MAX)
}
