//! All engines, and how to run a program with one of them.

use std::fmt;
use std::str::FromStr;

use eddy_syntax::suggest::{UnknownName, named};

use crate::eval::{self, Observer, RunOptions, Unobserved};
use crate::outcome::{Counters, Limits, Outcome, Ties};
use crate::syntax::Program;
use crate::value::Value;
use crate::{clarke, tape, transform};

/// An evaluator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Section 12: flat slots and Wengert tapes.
    #[default]
    Tape,
    /// Sections 5 to 7, rule by rule.
    Reference,
    /// Section 13: whole terms are differentiated before they run.
    Transform,
}

impl Engine {
    /// All engines, the default first.
    pub const ALL: [Engine; 3] = [Engine::Tape, Engine::Reference, Engine::Transform];

    /// The name for `--engine`.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Tape => "tape",
            Engine::Reference => "reference",
            Engine::Transform => "transform",
        }
    }
}

impl FromStr for Engine {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Engine, UnknownName> {
        named(name, &Engine::ALL, Engine::name)
    }
}

/// The answer of a run, and its counters.
#[derive(Clone, Debug)]
pub struct Report {
    pub outcome: Outcome,
    pub counters: Counters,
    pub limits: Limits,
}

impl Report {
    /// The value as text; `None` if the run ended without a value.
    pub fn value(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Value(value) => Some(value.to_string()),
            Outcome::Interval(low, high) => Some(clarke::show(low, high)),
            Outcome::Undefined(_) | Outcome::Diverged | Outcome::OutOfMemory => None,
        }
    }
}

/// The one line that `run` prints.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Value(value) => write!(f, "{value}"),
            Outcome::Interval(low, high) => f.write_str(&clarke::show(low, high)),
            Outcome::Undefined(undefined) => write!(f, "undefined: {undefined}"),
            Outcome::Diverged => f.write_str("diverged: out of fuel"),
            Outcome::OutOfMemory => {
                let mebibytes = self.limits.memory >> 20;
                write!(f, "diverged: out of memory, which `--memory` limits to {mebibytes} MiB")
            }
        }
    }
}

/// Runs a checked program.
///
/// ```
/// use eddy_rd::engine::{Engine, run};
/// use eddy_rd::outcome::Limits;
/// use eddy_syntax::SourceFile;
///
/// let file = SourceFile::new("cube.rd", "grad[2](x. x * x * x)");
/// let program = eddy_rd::typing::check(&file).unwrap();
/// assert_eq!(run(&program, Engine::Tape, Limits::default()).to_string(), "12");
/// ```
pub fn run(program: &Program, engine: Engine, limits: Limits) -> Report {
    run_observed(program, engine, limits, &mut Unobserved)
}

/// Runs a checked program and reports its events; only the reference engine reports any.
pub fn run_observed(
    program: &Program,
    engine: Engine,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Report {
    let main = if program.clarke { clarke::main_derivative(program) } else { None };
    match main {
        None => {
            let (outcome, counters) = run_once(program, engine, limits, &mut Ties::default(), observer, None);
            Report { outcome, counters, limits }
        }
        Some(var) => clarke::explore(limits, |ties, body| {
            run_once(program, engine, limits, ties, observer, Some((var, body)))
        }),
    }
}

fn run_once(
    program: &Program,
    engine: Engine,
    limits: Limits,
    ties: &mut Ties,
    observer: &mut dyn Observer,
    main: Option<(crate::syntax::VarId, &mut Option<Value>)>,
) -> (Outcome, Counters) {
    match engine {
        Engine::Reference => eval::run(program, limits, ties, RunOptions { observer, main }),
        Engine::Tape => tape::run(program, limits, ties, main),
        Engine::Transform => transform::run(program, limits),
    }
}
