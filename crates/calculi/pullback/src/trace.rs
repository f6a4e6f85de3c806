//! `eddy trace`: the steps of the reference engine, one line each.
//!
//! ```text
//! N RULE DETAIL
//! ```
//!
//! The rules show the phases of the paper: *divide* is `A`, *conquer* are the pullback steps (`7` to `21`),
//! each with its forward value, and *combine* are `3`, forward, and `5`, backward. Steps in the premise of a
//! rule are marked `premise`; contractions and `sharp` are shown as `+`, because they are sums.

use std::fmt::{self, Write};

use crate::engine::{Engine, Report};
use crate::eval::{self, Detail, Observer, Step, literal};
use crate::outcome::{Limits, Outcome};
use crate::primitive::calculus::Reals;
use crate::print::{show_body, show_up_to, show_with};
use crate::syntax::{Program, Term, TermId, Terms};

/// Options of a trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceOptions {
    /// Pullbacks as configurations of a term and its continuation.
    pub cps: bool,
    /// Terms that are stuck in the paper stay stuck.
    pub paper: bool,
    /// The whole state after each step.
    pub states: bool,
}

/// Runs the reference engine and writes each of its steps; the last line is the value, if there is one.
///
/// The lines are written while the program runs rather than returned by an iterator: the engine calls its
/// observer from deep inside its own stack.
pub fn trace(
    program: &Program,
    limits: Limits,
    show: TraceOptions,
    out: &mut dyn Write,
) -> Result<Report, fmt::Error> {
    let mut writer = Writer { out, show, n_steps: 0, n_bytes: 0, failed: Ok(()) };
    let (outcome, counters, terms) = eval::run_with(program, limits, show.paper, &mut writer);
    writer.failed?;
    match &outcome {
        Outcome::Value(answer) => writeln!(out, "{}", answer.show(&terms.types))?,
        Outcome::Open(term) => writeln!(out, "{}", show_with(&terms, *term, show.cps))?,
        Outcome::Stopped(_) => {}
    }
    Ok(Report { engine: Engine::Reference, outcome, counters, limits, types: terms.types })
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    show: TraceOptions,
    n_steps: u64,
    /// The number of bytes written.
    n_bytes: u64,
    failed: fmt::Result,
}

/// The maximal number of bytes shown of each side of a rewrite step.
const LONGEST_SIDE: usize = 4000;

impl Observer for Writer<'_> {
    fn step(&mut self, terms: &mut Terms, step: &Step) {
        self.n_steps += 1;
        if self.failed.is_err() {
            return;
        }
        let premise = if step.premises > 0 { "premise " } else { "" };
        let detail = self.detail(terms, step.detail);
        self.line(&format!("{} {premise}{} {detail}", self.n_steps, step.rule));
    }

    fn bytes(&self) -> u64 {
        self.n_bytes
    }

    fn needs_states(&self) -> bool {
        self.show.states
    }

    fn state(&mut self, terms: &mut Terms, state: TermId) {
        if self.failed.is_ok() {
            self.line(&format!("  = {}", show_with(terms, state, self.show.cps)));
        }
    }
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.n_bytes += text.len() as u64 + 1;
        self.failed = writeln!(self.out, "{text}");
    }

    fn detail(&self, terms: &Terms, detail: Detail) -> String {
        let show = |id| show_with(terms, id, self.show.cps);
        match detail {
            Detail::Term(id) => match terms.term(id) {
                // The let series of rule A, without the pullback around it.
                Term::Pullback(hint, body, _) if !self.show.cps => show_body(terms, hint, body),
                _ => show(id),
            },
            Detail::Value(before, after) => format!("{} -> {}", show(before), show(after)),
            Detail::Rewrite(before, after) => {
                let [before, after] =
                    [before, after].map(|id| show_up_to(terms, id, self.show.cps, LONGEST_SIDE));
                format!("{before} -> {after}")
            }
            Detail::Forward(id) => match Self::value(terms, id) {
                Some(value) => value,
                None => show(id),
            },
        }
    }

    /// The value of `f(r)`, which the next step computes.
    fn value(terms: &Terms, id: TermId) -> Option<String> {
        let Term::Prim(f, argument) = terms.term(id) else { return None };
        let point = literal::vector(terms, argument)?;
        let value = terms.primitives.get(f).apply(&mut Reals, &point).ok()?;
        let leaves = value.into_iter().map(crate::outcome::Leaf::Real).collect();
        Some(crate::outcome::Answer { ty: terms.ty(id), leaves }.show(&terms.types))
    }
}
