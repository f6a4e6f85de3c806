//! The language as the command line sees it.

use eddy_language::{Language, OptionName, Options, Out, Status, Verdict};
use eddy_syntax::explain::Page;
use eddy_syntax::{Code, Diagnostic, SourceFile};

use crate::engine::{self, Engine, Report};
use crate::outcome::{Limits, Outcome};
use crate::syntax::Program;
use crate::trace::{self, Show};
use crate::{codes, format, typing};

/// The language of `.rd` files.
#[derive(Clone, Copy, Debug)]
pub struct Rd;

const ENGINES: [&str; 3] = ["tape", "reference", "transform"];

impl Language for Rd {
    fn name(&self) -> &'static str {
        "rd"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["rd"]
    }

    fn engines(&self) -> &'static [&'static str] {
        &ENGINES
    }

    fn options(&self) -> &'static [OptionName] {
        use OptionName::{Approx, Engine, Fuel, Literal, Memory, Steps};
        &[Engine, Fuel, Memory, Approx, Literal, Steps]
    }

    fn pages(&self) -> &'static [Page] {
        codes::PAGES
    }

    fn unreadable(&self) -> Code {
        codes::LEXICAL
    }

    fn check(&self, file: &SourceFile, out: Out<'_>) -> Result<Verdict, std::fmt::Error> {
        match typing::check(file) {
            Err(diagnostics) => Ok(Verdict::refused(diagnostics)),
            Ok(program) => {
                writeln!(out, "{}", program.terms.types.show(program.terms.ty(program.main)))?;
                Ok(Verdict::answered())
            }
        }
    }

    fn run(&self, file: &SourceFile, options: &Options, out: Out<'_>) -> Result<Verdict, std::fmt::Error> {
        let program = match prepare(file, options) {
            Ok(program) => program,
            Err(diagnostics) => return Ok(Verdict::refused(diagnostics)),
        };
        let report = engine::run(&program, chosen_engine(options), limits(options));
        writeln!(out, "{}", report.line())?;
        Ok(verdict(&report))
    }

    fn trace(&self, file: &SourceFile, options: &Options, out: Out<'_>) -> Result<Verdict, std::fmt::Error> {
        let program = match prepare(file, options) {
            Ok(program) => program,
            Err(diagnostics) => return Ok(Verdict::refused(diagnostics)),
        };
        let show = Show { steps: options.steps, literal: options.literal };
        let report = trace::trace(&program, limits(options), show, out)?;
        Ok(verdict(&report))
    }

    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
        format::format(file)
    }
}

/// Checks a program and replaces recursion by its approximant where that is asked for.
fn prepare(file: &SourceFile, options: &Options) -> Result<Program, Vec<Diagnostic>> {
    let mut program = typing::check(file)?;
    if let Some(limit) = options.approx {
        program.terms.approximate(limit);
    }
    Ok(program)
}

fn chosen_engine(options: &Options) -> Engine {
    let name = options.engine.as_deref().unwrap_or(Engine::ALL[0].name());
    Engine::ALL.into_iter().find(|engine| engine.name() == name).expect("the command line knows the engines")
}

fn limits(options: &Options) -> Limits {
    let default = Limits::default();
    Limits { fuel: options.fuel.unwrap_or(default.fuel), memory: options.memory.unwrap_or(default.memory) }
}

fn verdict(report: &Report) -> Verdict {
    let status = match report.outcome {
        Outcome::Value(_) | Outcome::Interval(..) => Status::Answered,
        Outcome::Undefined(_) | Outcome::Diverged | Outcome::OutOfMemory => Status::NoValue,
    };
    let counters = report.counters;
    let stats = vec![("calls", counters.calls), ("recorded", counters.recorded), ("bytes", counters.bytes)];
    Verdict { status, diagnostics: Vec::new(), stats }
}
