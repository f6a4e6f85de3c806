//! The requests about a program, and their answers.
//!
//! A request is plain data with a method `answer`. For a rejected program, the answer is its diagnostics.
//! Answers are data too, and print as `eddy` shows them. If a valid program has no answer, because it is
//! stuck or a limit was reached, the answer contains a diagnostic with the reason, and prints as nothing.
//!
//! ```
//! use eddy_syntax::SourceFile;
//! use eddy_tables::dialect::Dialect;
//! use eddy_tables::requests::Run;
//!
//! let file = SourceFile::new("seven.sysf", "(\\x:int. x + 1) 6");
//! let ran = Run::default().answer(&file, Dialect::SystemF).unwrap();
//! assert_eq!(ran.to_string(), "7 : int");
//! ```
//!
//! This module has the requests about runs, [`questions`] those about the meaning of programs.

pub mod questions;

use std::fmt;

use eddy_syntax::{Diagnostic, SourceFile};

use crate::ask::{self, Answer};
use crate::dialect::Dialect;
use crate::integer::Int;
use crate::run::{Counters, Engine, Limits, RunError, Shown, Stuck, run};
use crate::syntax::Program;
use crate::trace::{self, Steps};
use crate::value::Values;
use crate::value::parse::Goal;
use crate::{codes, typing};

/// Is the program well formed, and what is its type?
#[derive(Clone, Copy, Debug, Default)]
pub struct Check;

/// What is the value of the program?
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// The evaluator.
    pub engine: Engine,
    /// The limits of the run.
    pub limits: Limits,
}

/// What is the value of the program, and is that value in the program's declarative meaning? Only for `.lam`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compare {
    /// The limits of the run.
    pub limits: Limits,
}

/// Which steps lead to the value of the program?
#[derive(Clone, Copy, Debug)]
pub struct Trace {
    /// The limits of the run.
    pub limits: Limits,
}

/// A well-formed program. It prints as its type, or as `ok` in languages without types.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The program, with types erased.
    pub program: Program,
}

/// The result of a run. It prints as the value with its type.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The value, or why there is none.
    pub outcome: Result<Shown, RunError>,
    /// The type of the program, in languages with types.
    pub ty: Option<String>,
    /// The counters of the run.
    pub counters: Counters,
    /// Why there is no value, if there is none.
    pub diagnostic: Option<Diagnostic>,
}

/// The answers of both meanings.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The result of the run.
    pub ran: Ran,
    /// If the run gave an integer, whether that integer is in the declarative meaning.
    pub asked: Option<Answer>,
}

/// The steps of a run.
#[derive(Clone, Debug)]
pub struct Traced {
    /// An iterator over the lines. A program without a value has no trace.
    pub steps: Result<Steps, RunError>,
    /// Why there is no trace, if there is none.
    pub diagnostic: Option<Diagnostic>,
}

impl Default for Trace {
    fn default() -> Self {
        Trace { limits: Limits { fuel: trace::DEFAULT_STEPS, ..Limits::default() } }
    }
}

impl Check {
    /// The program with its type.
    pub fn answer(self, file: &SourceFile, dialect: Dialect) -> Result<Checked, Vec<Diagnostic>> {
        Ok(Checked { program: typing::check(file, dialect)? })
    }
}

impl Run {
    /// The value, or why there is none.
    pub fn answer(self, file: &SourceFile, dialect: Dialect) -> Result<Ran, Vec<Diagnostic>> {
        Ok(self.of(&typing::check(file, dialect)?))
    }

    fn of(self, program: &Program) -> Ran {
        let Engine::Closures = self.engine;
        let (outcome, counters) = run(program, self.limits);
        let diagnostic = outcome.as_ref().err().map(|failure| no_value(program, *failure));
        Ran { outcome, ty: program.ty.map(|ty| program.types.show(ty)), counters, diagnostic }
    }
}

impl Compare {
    /// The value of the run, and whether it is in the meaning.
    pub fn answer(self, file: &SourceFile) -> Result<Compared, Vec<Diagnostic>> {
        let program = typing::check(file, Dialect::Lambda)?;
        let ran = Run { limits: self.limits, ..Run::default() }.of(&program);
        let value = ran.outcome.as_ref().ok().and_then(|Shown(value)| value.parse::<Int>().ok());
        let asked = value.map(|value| {
            let mut values = Values::default();
            let goal = Goal { value: values.int(value), store: None };
            ask::ask(&program, goal, &mut values, ask::Limits::default()).0
        });
        Ok(Compared { ran, asked })
    }
}

impl Trace {
    /// The steps; each is computed again on demand.
    pub fn answer(self, file: &SourceFile, dialect: Dialect) -> Result<Traced, Vec<Diagnostic>> {
        let program = typing::check(file, dialect)?;
        // Only a run shows whether the program has a value, so it is run before it is traced.
        let steps = trace::count(&program, self.limits).map(|n_steps| Steps::new(&program, n_steps));
        let diagnostic = steps.as_ref().err().map(|failure| no_value(&program, *failure));
        Ok(Traced { steps, diagnostic })
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.program.ty {
            Some(ty) => f.write_str(&self.program.types.show(ty)),
            None => f.write_str("ok"),
        }
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(Shown(value)) = &self.outcome else { return Ok(()) };
        f.write_str(value)?;
        self.ty.as_ref().map_or(Ok(()), |ty| write!(f, " : {ty}"))
    }
}

/// The program was run and has no value.
fn no_value(program: &Program, failure: RunError) -> Diagnostic {
    let main = program.terms.span(program.main);
    match failure {
        RunError::Stuck(span, why) => {
            let diagnostic = Diagnostic::error(codes::STUCK, span, format!("stuck: {why}"));
            diagnostic.label(if why == Stuck::Zero {
                "the divisor is 0 here"
            } else {
                "no rule applies to this"
            })
        }
        RunError::Fuel(fuel) => {
            Diagnostic::error(codes::FUEL, main, format!("out of fuel after {fuel} applications or steps"))
                .label("this was still running")
                .help("give it more with `--fuel N`, if it ends at all")
        }
        RunError::Memory(bytes) => Diagnostic::error(
            codes::FUEL,
            main,
            format!("out of fuel: more than {} MiB of memory", bytes >> 20),
        )
        .label("in this run")
        .help("give it more with `--memory MIB`"),
        RunError::TooLarge(span) => {
            let title = "out of fuel: an integer has more than five million digits";
            Diagnostic::error(codes::FUEL, span, title).label("this is computed here")
        }
    }
}
