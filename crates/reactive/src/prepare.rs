//! A node made ready to run: elaborated, typed, differentiated, batched, clocked, and checked for causality, in this order.

use eddy_autodiff::{Gradients, expand};
use eddy_batch::{Batch, batch};
use eddy_language::BatchLoss;
use eddy_syntax::Diagnostic;
use eddy_tensor::Type;

use crate::causality::{Verdict, causality_and_deadlocks};
use crate::clocks::{self, Clocks};
use crate::codes;
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
    /// The streams that it runs at once, if that was asked for.
    pub batch: Option<Batch>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

impl Prepared {
    /// The warnings about cells that stay unknown for ever, which a run should repeat: they explain what it prints.
    pub fn deadlocks(&self) -> impl Iterator<Item = Diagnostic> + '_ {
        self.warnings.iter().filter(|warning| warning.code == codes::DEADLOCK).cloned()
    }

    /// The types of the inputs, in one stream.
    pub fn input_types(&self) -> Vec<&Type> {
        match &self.batch {
            Some(batch) => batch.inputs.iter().collect(),
            None => self.flow.inputs.iter().map(|input| &self.flow.var(*input).ty).collect(),
        }
    }
}

/// The equations of a node with their types.
pub struct Typed {
    /// The equations.
    pub flow: Flow,
    /// The streams that they run at once, if that was asked for.
    pub batch: Option<Batch>,
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
    let Typed { flow, batch, mut warnings } =
        typed(program, callable, given, hints).map_err(|failure| failure.diagnostics)?;
    if checks == Checks::Off {
        let clocks = clocks::guess(&flow);
        return Ok(Prepared { flow, clocks, verdict: None, batch, warnings });
    }
    let clocks = clocks::infer(&flow)?;
    let (verdict, deadlocks) = causality_and_deadlocks(&flow, &clocks).map_err(|diagnostic| match &batch {
        None => vec![*diagnostic],
        Some(_) => vec![diagnostic.reason(
            "in a batch, an `if` whose condition differs from stream to stream waits for both of its branches",
        )],
    })?;
    warnings.extend(deadlocks);
    Ok(Prepared { flow, clocks, verdict: Some(verdict), batch, warnings })
}

/// The equations of a node with their types, and with the derivatives that it asks for, for as many streams as are given.
pub fn typed(
    program: &Program,
    callable: &Callable,
    given: &Given,
    hints: impl FnOnce(&Draft) -> Hints,
) -> Result<Typed, Failure> {
    let mut draft = elaborate(program, callable, given)?;
    let marks = std::mem::take(&mut draft.marks);
    let hints = hints(&draft);
    let flow = infer(draft, &hints)?;
    let gradients = match (given.batch, given.batch_loss) {
        (None, _) => Gradients::AsTheyAre,
        (Some(n), BatchLoss::Mean) => Gradients::Apart { n_losses: n },
        (Some(_), BatchLoss::Sum) => Gradients::Apart { n_losses: 1 },
    };
    let expanded = expand(flow, marks, gradients, &mut Customs::new(program))?;
    let mut warnings = expanded.warnings;
    warnings.extend_from_slice(&program.warnings);
    program.limits.fits(&expanded.flow)?;
    let Some(n) = given.batch else { return Ok(Typed { flow: expanded.flow, batch: None, warnings }) };
    let (flow, batch) = batch(expanded.flow, n, &expanded.gradients)?;
    Ok(Typed { flow, batch: Some(batch), warnings })
}
