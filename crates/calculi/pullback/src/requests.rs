//! The requests about a program, and their answers.
//!
//! A request is plain data with a method `answer`. For a program that is refused, the answer is its
//! diagnostics. Answers are data too, and print as `eddy` shows them.
//!
//! ```
//! use eddy_pullback::requests::{Check, Run};
//! use eddy_syntax::SourceFile;
//!
//! let file = SourceFile::new("cube.pb", "grad (\\x:R. x^3) at 2");
//! assert_eq!(Check.answer(&file).unwrap().to_string(), "ok : R");
//! let run = Run { engine: "reference".parse().unwrap(), ..Run::default() };
//! assert_eq!(run.answer(&file).unwrap().to_string(), "12");
//! ```

use std::fmt::{self, Write};

use eddy_syntax::{Diagnostic, SourceFile, Span};

use crate::engine::{self, Engine, Report};
use crate::outcome::{Limits, Outcome, Stop};
use crate::syntax::Program;
use crate::trace::{self, TraceOptions};
use crate::{codes, typing};

/// What is the type of the program?
#[derive(Clone, Copy, Debug, Default)]
pub struct Check;

/// What is its value?
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// The evaluator.
    pub engine: Engine,
    /// The limits of the run.
    pub limits: Limits,
}

/// What is its value, on every engine?
#[derive(Clone, Copy, Debug, Default)]
pub struct Compare {
    /// The limits of each run.
    pub limits: Limits,
}

/// Which steps lead to its value? Only the reference engine has traces.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace {
    /// The parts to show.
    pub show: TraceOptions,
    /// The limits of the run.
    pub limits: Limits,
}

/// A program that is well typed. It prints as `ok : TYPE`, or `ok` if it has no main expression.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The program, as kernel terms.
    pub program: Program,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The outcome and the counters.
    pub report: Report,
    /// The reason, if the run has no value.
    pub diagnostic: Option<Diagnostic>,
}

/// The answers of all engines, the default first.
#[derive(Clone, Debug)]
pub struct Compared {
    /// One for each engine.
    pub runs: Vec<Ran>,
}

/// A program that is ready to be traced.
#[derive(Clone, Debug)]
pub struct Traced {
    program: Program,
    start: Span,
    request: Trace,
}

impl Check {
    /// The program with its type.
    pub fn answer(self, file: &SourceFile) -> Result<Checked, Vec<Diagnostic>> {
        Ok(Checked { program: typing::check(file)? })
    }
}

impl Run {
    /// The value, or why there is none.
    pub fn answer(self, file: &SourceFile) -> Result<Ran, Vec<Diagnostic>> {
        let program = with_main(file, "run")?;
        Ok(Ran::new(engine::run(&program, self.engine, self.limits), &program, start(file)))
    }
}

impl Compare {
    /// The result of each engine.
    pub fn answer(self, file: &SourceFile) -> Result<Compared, Vec<Diagnostic>> {
        let program = with_main(file, "compare")?;
        let run = |engine| Ran::new(engine::run(&program, engine, self.limits), &program, start(file));
        Ok(Compared { runs: Engine::ALL.map(run).to_vec() })
    }
}

impl Trace {
    /// The program, which runs when its trace is written.
    pub fn answer(self, file: &SourceFile) -> Result<Traced, Vec<Diagnostic>> {
        Ok(Traced { program: with_main(file, "trace")?, start: start(file), request: self })
    }
}

impl Traced {
    /// Runs the program, and writes each line of its trace as soon as the line is known. Fails only if `out`
    /// fails.
    pub fn write(&self, out: &mut dyn Write) -> Result<Ran, fmt::Error> {
        let Trace { limits, show } = self.request;
        let report = trace::trace(&self.program, limits, show, out)?;
        Ok(Ran::new(report, &self.program, self.start))
    }
}

impl Ran {
    fn new(report: Report, program: &Program, start: Span) -> Ran {
        let diagnostic = match &report.outcome {
            Outcome::Stopped(stop) => Some(stopped(program, start, report.limits, stop)),
            Outcome::Value(_) | Outcome::Open(_) => None,
        };
        Ran { report, diagnostic }
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.program.show_type() {
            Some(ty) => write!(f, "ok : {ty}"),
            None => f.write_str("ok"),
        }
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report.fmt(f)
    }
}

/// A checked program that has a main expression.
fn with_main(file: &SourceFile, command: &str) -> Result<Program, Vec<Diagnostic>> {
    let program = typing::check(file)?;
    if program.main.is_some() {
        return Ok(program);
    }
    let title = format!("no main expression: there is nothing to {command}");
    let diagnostic = Diagnostic::error(codes::NO_MAIN, file.end(), title)
        .label("the file ends here")
        .help("write an expression after the declarations, such as a call of one of them");
    Err(vec![diagnostic])
}

fn start(file: &SourceFile) -> Span {
    Span::new(file.base(), file.base())
}

/// The diagnostic for a run without a value.
fn stopped(program: &Program, start: Span, limits: Limits, stop: &Stop) -> Diagnostic {
    let at = |term| program.place(term).unwrap_or(start);
    let whole = at(None);
    match stop {
        Stop::Domain(undefined) => {
            let title = format!("outside of the domain: {} is not a finite number", undefined.what);
            Diagnostic::error(codes::DOMAIN, at(undefined.at), title)
                .label("in the value or the derivative of this")
                .reason("a primitive, or its derivative, is asked for a value where it has none")
        }
        Stop::OutOfFuel => {
            let title = format!("out of fuel after {} steps", limits.fuel);
            Diagnostic::error(codes::FUEL, whole, title).help("give it more with `--fuel N`")
        }
        Stop::OutOfMemory => {
            let title = format!("out of fuel: the run needs more than {} MiB", limits.memory >> 20);
            Diagnostic::error(codes::FUEL, whole, title).help("give it more with `--memory MIB`")
        }
    }
}
