//! Prepares a node to run: elaborate, type, differentiate, batch, infer clocks, check causality, in this
//! order.

use eddy_autodiff::{Gradients, expand};
use eddy_batch::{Batch, batch};
use eddy_syntax::Diagnostic;
use eddy_tensor::Type;

use crate::causality::{Verdict, causality_and_deadlocks};
use crate::clocks::{self, Clocks};
use crate::codes;
use crate::custom::Customs;
use crate::draft::Draft;
use crate::elaborate::{BatchLoss, ElaborationOptions, elaborate};
use crate::flow::Flow;
use crate::infer::{Hints, InferenceError, infer};
use crate::program::{Callable, Program};

/// Whether clocks and causality are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    On,
    /// Clocks are guessed, and there is no causality verdict.
    Off,
}

/// A node that can be run.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub flow: Flow,
    pub clocks: Clocks,
    /// How far the outputs look ahead; `None` for unchecked programs.
    pub verdict: Option<Verdict>,
    /// Set if several independent streams run in lock-step (`--batch`).
    pub batch: Option<Batch>,
    pub warnings: Vec<Diagnostic>,
}

impl Prepared {
    /// Warnings about cells that stay unknown forever. A run repeats them, because they explain its output.
    pub fn deadlocks(&self) -> impl Iterator<Item = Diagnostic> + '_ {
        self.warnings.iter().filter(|warning| warning.code == codes::DEADLOCK).cloned()
    }

    /// The types of the inputs of one stream, without the batch axis.
    pub fn input_types(&self) -> Vec<&Type> {
        match &self.batch {
            Some(batch) => batch.inputs.iter().collect(),
            None => self.flow.inputs.iter().map(|input| &self.flow.var(*input).ty).collect(),
        }
    }
}

/// The equations of a node with their types, differentiated and batched.
pub(crate) struct Typed {
    pub flow: Flow,
    pub batch: Option<Batch>,
    pub warnings: Vec<Diagnostic>,
}

/// Prepares a node. `hints` receives the draft and supplies types of inputs that have none.
pub fn prepare(
    program: &Program,
    callable: &Callable,
    given: &ElaborationOptions,
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

/// The equations of a node with their types, including the derivatives that it uses, for `given.batch`
/// streams.
pub(crate) fn typed(
    program: &Program,
    callable: &Callable,
    given: &ElaborationOptions,
    hints: impl FnOnce(&Draft) -> Hints,
) -> Result<Typed, InferenceError> {
    let draft = elaborate(program, callable, given)?;
    let hints = hints(&draft);
    let (flow, marks) = infer(program, draft, &hints)?;
    let gradients = match (given.batch, given.batch_loss) {
        (None, _) => Gradients::Direct,
        (Some(n), BatchLoss::Mean) => Gradients::Copied { n_losses: n },
        (Some(_), BatchLoss::Sum) => Gradients::Copied { n_losses: 1 },
    };
    let expanded = expand(flow, marks, gradients, &mut Customs::new(program))?;
    let mut warnings = expanded.warnings;
    warnings.extend_from_slice(&program.warnings);
    program.limits.fits(&expanded.flow)?;
    let Some(n) = given.batch else { return Ok(Typed { flow: expanded.flow, batch: None, warnings }) };
    let (flow, batch) = batch(expanded.flow, n, &expanded.gradients)?;
    program.limits.fits(&flow)?;
    Ok(Typed { flow, batch: Some(batch), warnings })
}
