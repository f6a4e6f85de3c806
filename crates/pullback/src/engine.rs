//! The engines behind one door: which there are, how a program is run by each, and what the answer looks like.

use crate::eval::{self, Unobserved};
use crate::outcome::{Counters, Limits, Outcome};
use crate::syntax::Program;
use crate::types::Types;
use crate::{fast, translate};

/// An evaluator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Section 9: tapes, closures and levels.
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

/// The answer of a run and what it took.
#[derive(Clone, Debug)]
pub struct Report {
    /// Who ran.
    pub engine: Engine,
    /// The answer.
    pub outcome: Outcome,
    /// What was counted.
    pub counters: Counters,
    /// What bounded it.
    pub limits: Limits,
    /// The types of the answer.
    pub types: Types,
}

impl Report {
    /// The one line that `run` prints; none if the run was stopped.
    pub fn line(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Value(answer) => Some(answer.show(&self.types)),
            Outcome::Open(_) => Some("<open>".to_string()),
            Outcome::Stopped(_) => None,
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
/// assert_eq!(run(&program, Engine::Fast, Limits::default()).line().as_deref(), Some("12"));
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
