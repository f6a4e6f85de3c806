//! A node made ready to run: elaborated, typed, differentiated, clocked, and checked for causality, in this order.

use eddy_autodiff::expand;
use eddy_syntax::Diagnostic;

use crate::causality::{Verdict, causality};
use crate::clocks::{self, Clocks};
use crate::custom::Customs;
use crate::draft::Draft;
use crate::elaborate::{Given, elaborate};
use crate::flow::Flow;
use crate::infer::{Failure, Hints, infer};
use crate::program::{Callable, Program};

/// Whether clocks and causality are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// They are.
    On,
    /// The program is run as it is.
    Off,
}

/// A node that can be run.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Its equations.
    pub flow: Flow,
    /// Their clocks.
    pub clocks: Clocks,
    /// How far they look ahead; unchecked programs have no verdict.
    pub verdict: Option<Verdict>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// Prepares a node; `hints` sees the draft, whose inputs may need some.
pub fn prepare(
    program: &Program,
    callable: &Callable,
    given: &Given,
    hints: impl FnOnce(&Draft) -> Hints,
    checks: Checks,
) -> Result<Prepared, Vec<Diagnostic>> {
    let (flow, warnings) = typed(program, callable, given, hints).map_err(|failure| failure.diagnostics)?;
    if checks == Checks::Off {
        let clocks = clocks::guess(&flow);
        return Ok(Prepared { flow, clocks, verdict: None, warnings });
    }
    let clocks = clocks::infer(&flow)?;
    let verdict = causality(&flow, &clocks).map_err(|diagnostic| vec![*diagnostic])?;
    Ok(Prepared { flow, clocks, verdict: Some(verdict), warnings })
}

/// The equations of a node with their types, and with the derivatives that it asks for; and what the user should know.
pub fn typed(
    program: &Program,
    callable: &Callable,
    given: &Given,
    hints: impl FnOnce(&Draft) -> Hints,
) -> Result<(Flow, Vec<Diagnostic>), Failure> {
    let mut draft = elaborate(program, callable, given)?;
    let marks = std::mem::take(&mut draft.marks);
    let hints = hints(&draft);
    let flow = infer(draft, &hints)?;
    let expanded = expand(flow, marks, &mut Customs::new(program))?;
    Ok((expanded.flow, expanded.warnings))
}
