//! The commands that ask about the meaning of a program: `ask`, `enum`, `opt` and `intype`.
//!
//! Not every question is for every language; where one is left out, the answer says so.

use std::fmt;

use eddy_language::{Options, Out, Verdict};
use eddy_syntax::{Diagnostic, SourceFile, Sources};

use crate::ask::{self, Answer, Limits};
use crate::codes;
use crate::dialect::Dialect;
use crate::syntax::Program;
use crate::value::Values;
use crate::value::parse::{Goal, parse};

/// `eddy ask`.
pub(super) fn ask(
    program: &Program,
    sources: &mut Sources,
    options: &Options,
    out: Out<'_>,
) -> Result<Verdict, fmt::Error> {
    let mut values = Values::default();
    let goal = match goal(program, sources, options, &mut values) {
        Ok(goal) => goal,
        Err(diagnostics) => return Ok(Verdict::refused(diagnostics)),
    };
    let (answer, steps) = ask::ask(program, goal, &mut values, limits(options));
    writeln!(out, "{}", answer.word())?;
    let mut verdict = Verdict::answered();
    verdict.stats = vec![("applications", steps)];
    Ok(verdict)
}

fn goal(
    program: &Program,
    sources: &mut Sources,
    options: &Options,
    values: &mut Values,
) -> Result<Goal, Vec<Diagnostic>> {
    if let Some((name, text)) = &options.value {
        let file = sources.add(name, text).map_err(|reason| vec![too_long(program, &reason)])?;
        return parse(file, program.dialect, values);
    }
    unreachable!("types")
}

fn too_long(program: &Program, reason: &str) -> Diagnostic {
    Diagnostic::error(codes::SYNTAX, program.terms.span(program.main), format!("parse error: {reason}"))
}

fn limits(options: &Options) -> Limits {
    let default = Limits::default();
    Limits {
        fuel: options.fuel.unwrap_or(default.fuel),
        steps: options.steps.unwrap_or(default.steps),
        memory: options.memory.unwrap_or(default.memory),
    }
}
pub(super) fn enumerate(program: &Program, options: &Options, out: Out<'_>) -> Result<Verdict, fmt::Error> { todo!() }
pub(super) fn optimise(program: &Program, options: &Options, out: Out<'_>) -> Result<Verdict, fmt::Error> { todo!() }
pub(super) fn intype(program: &Program, sources: &mut Sources, options: &Options, out: Out<'_>) -> Result<Verdict, fmt::Error> { todo!() }
