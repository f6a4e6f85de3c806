//! The engines behind one door: which there are, how a program is run by each, and what the answer looks like.

use crate::eval::{self, Observer, Unobserved, Watch};
use crate::outcome::{Counters, Limits, Outcome, Ties};
use crate::syntax::Program;
use crate::value::Value;
use crate::{clarke, tape, transform};

/// An evaluator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Section 12: flat slots and Wengert tapes.
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

/// The answer of a run and what it took.
#[derive(Clone, Debug)]
pub struct Report {
    /// The answer.
    pub outcome: Outcome,
    /// What was counted.
    pub counters: Counters,
    /// What bounded it.
    pub limits: Limits,
}

impl Report {
    /// The value, as it prints; `None` if there is none.
    pub fn value_line(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Value(value) => Some(value.to_string()),
            Outcome::Interval(low, high) => Some(clarke::show(low, high)),
            _ => None,
        }
    }

    /// The one line that `run` prints.
    pub fn line(&self) -> String {
        match &self.outcome {
            Outcome::Undefined(undefined) => format!("undefined: {undefined}"),
            Outcome::Diverged => "diverged: out of fuel".to_string(),
            Outcome::OutOfMemory => {
                format!(
                    "diverged: out of memory, which `--memory` limits to {} MiB",
                    self.limits.memory >> 20
                )
            }
            Outcome::Value(_) | Outcome::Interval(..) => self.value_line().expect("these have a value"),
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
/// assert_eq!(run(&program, Engine::Tape, Limits::default()).line(), "12");
/// ```
pub fn run(program: &Program, engine: Engine, limits: Limits) -> Report {
    run_observed(program, engine, limits, &mut Unobserved)
}

/// Runs a checked program while somebody watches; only the reference engine has something to show.
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
        Engine::Reference => eval::run(program, limits, ties, Watch { observer, main }),
        Engine::Tape => tape::run(program, limits, ties, main),
        Engine::Transform => transform::run(program, limits),
    }
}
