//! What `eddy trace` writes: each derivative that ordinary evaluation meets, in order of completion, with its
//! trace and the derivative of the trace (section 10); and with `--rules` each rule as it is applied.

use eddy_language::Out;

use crate::engine::{self, Engine, Report};
use crate::eval::{Derivative, Judgement, Observer};
use crate::outcome::Limits;
use crate::print::Printer;
use crate::reverse::literal::DEFAULT_BUDGET;
use crate::syntax::Program;
use crate::value::Value;

/// What to show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Show {
    /// Each rule as it is applied.
    pub rules: bool,
    /// Derivatives of traces as Figure 6 prints them.
    pub literal: bool,
}

/// Runs a program by the reference engine and writes how it came to its value, and then the value.
pub fn trace(program: &Program, limits: Limits, show: Show, out: Out<'_>) -> Result<Report, std::fmt::Error> {
    let mut writer = Writer { out, show, failed: Ok(()) };
    let report = engine::run_observed(program, Engine::Reference, limits, &mut writer);
    writer.failed?;
    match report.value_line() {
        Some(value) => writeln!(out, "= {value}")?,
        None => writeln!(out, "{}", report.line())?,
    }
    Ok(report)
}

struct Writer<'a> {
    out: Out<'a>,
    show: Show,
    /// The first failure to write; the evaluation goes on in silence.
    failed: std::fmt::Result,
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
        self.line(&format!("  reverse {reverse}"));
    }

    fn value(&mut self, value: &Value) {
        self.line(&format!("  value {value}"));
    }

    fn literal_budget(&self) -> Option<usize> {
        self.show.literal.then_some(DEFAULT_BUDGET)
    }
}
