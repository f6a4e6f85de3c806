//! All engines, and how to run a program with one of them.

use std::fmt;
use std::str::FromStr;

use eddy_syntax::suggest::{UnknownName, named};

use crate::eval::{self, Unobserved};
use crate::outcome::{Counters, Limits, Outcome};
use crate::syntax::Program;
use crate::types::Types;
use crate::{fast, translate};

/// An evaluator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Section 9: tapes, closures and levels.
    #[default]
    Fast,
    /// Sections 5 and 6, rule by rule.
    Reference,
    /// Section 7: the differential λ-calculus.
    Translation,
}

impl Engine {
    /// All engines, the default first.
    pub const ALL: [Engine; 3] = [Engine::Fast, Engine::Reference, Engine::Translation];

    /// The name for `--engine`.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Fast => "fast",
            Engine::Reference => "reference",
            Engine::Translation => "translation",
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
    pub engine: Engine,
    pub outcome: Outcome,
    pub counters: Counters,
    pub limits: Limits,
    /// The types of the answer.
    pub types: Types,
}

/// The one line that `run` prints; nothing if the run was stopped.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Value(answer) => f.write_str(&answer.show(&self.types)),
            Outcome::Open(_) => f.write_str("<open>"),
            Outcome::Stopped(_) => Ok(()),
        }
    }
}

/// Runs a checked program that has a main expression.
///
/// ```
/// use eddy_pullback::engine::{Engine, run};
/// use eddy_pullback::outcome::Limits;
/// use eddy_syntax::SourceFile;
///
/// let file = SourceFile::new("cube.pb", "grad (\\x:R. x^3) at 2");
/// let program = eddy_pullback::typing::check(&file).unwrap();
/// assert_eq!(run(&program, Engine::Fast, Limits::default()).to_string(), "12");
/// ```
pub fn run(program: &Program, engine: Engine, limits: Limits) -> Report {
    let (outcome, counters, types) = match engine {
        Engine::Fast => fast::run(program, limits),
        Engine::Translation => translate::run(program, limits),
        Engine::Reference => {
            let (outcome, counters, terms) = eval::run(program, limits, &mut Unobserved);
            (outcome, counters, terms.types)
        }
    };
    Report { engine, outcome, counters, limits, types }
}
