//! The output of `eddy trace`: each derivative that ordinary evaluation meets, in order of completion, with
//! its trace and the derivative of the trace (section 10); with `--rules` also each rule as it is applied.

use std::fmt::{self, Write};

use crate::engine::{self, Engine, Report};
use crate::eval::{Derivative, Judgement, Observer};
use crate::outcome::Limits;
use crate::print::Printer;
use crate::reverse::literal::DEFAULT_BUDGET;
use crate::syntax::Program;
use crate::value::Value;

#[derive(Clone, Copy, Debug, Default)]
pub struct TraceOptions {
    /// Each rule as it is applied.
    pub rules: bool,
    /// Derivatives of traces as Figure 6 prints them.
    pub literal: bool,
}

/// Runs a program by the reference engine and writes its trace and then its value.
///
/// The lines are written while the program runs rather than returned by an iterator: the engine calls its
/// observer from deep inside its own stack, and a program under `use clarke` runs several times.
pub fn trace(
    program: &Program,
    limits: Limits,
    show: TraceOptions,
    out: &mut dyn Write,
) -> Result<Report, fmt::Error> {
    let mut writer = Writer { out, show, is_abridged: false, failed: Ok(()) };
    let report = engine::run_observed(program, Engine::Reference, limits, &mut writer);
    writer.failed?;
    match report.value() {
        Some(value) => writeln!(out, "= {value}")?,
        None => writeln!(out, "{report}")?,
    }
    Ok(report)
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    show: TraceOptions,
    /// Whether a literal derivative was too large since the last line `reverse`.
    is_abridged: bool,
    /// The first write error; the evaluation continues silently.
    failed: fmt::Result,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        if self.failed.is_ok() {
            self.failed = writeln!(self.out, "{line}");
        }
    }
}

impl Observer for Writer<'_> {
    fn rule(&mut self, judgement: Judgement, name: &'static str, detail: &mut dyn FnMut() -> String) {
        if self.show.rules {
            let arrow = match judgement {
                Judgement::Ordinary => "⇒",
                Judgement::Symbolic => "⇝",
            };
            let line = format!("  {arrow} {name:<8}{}", detail());
            self.line(line.trim_end());
        }
    }

    fn derivative(&mut self, derivative: &Derivative<'_>) {
        let Derivative { terms, env, var, point, cotangent, trace, reverse } = derivative;
        let ty = terms.types.show(terms.var(*var).ty);
        let mut printer = Printer::new(terms, env);
        let name = printer.name(*var);
        self.line(&format!("rd {name}:{ty} at {point} cotangent {cotangent}"));
        let trace = printer.print(*trace);
        self.line(&format!("  trace {trace}"));
        let reverse = printer.print(*reverse);
        // A comment, so that the line still reads as a term.
        let note = if std::mem::take(&mut self.is_abridged) {
            format!("(* R has more than {DEFAULT_BUDGET} binders; in linear size: *) ")
        } else {
            String::new()
        };
        self.line(&format!("  reverse {note}{reverse}"));
    }

    fn value(&mut self, value: &Value) {
        self.line(&format!("  value {value}"));
    }

    fn literal_budget(&self) -> Option<usize> {
        self.show.literal.then_some(DEFAULT_BUDGET)
    }

    fn literal_is_too_large(&mut self) {
        self.is_abridged = true;
    }
}
