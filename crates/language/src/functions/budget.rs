//! The limits of a command on functions (functions.md, sections 4 and 5.4), and the diagnostics when a limit
//! is exceeded.

use eddy_body::ir::BodyId;
use eddy_body::{Checkpoints, Failure, RunError};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Value;

use crate::codes;

/// Limits of all evaluations and calls of one command together. Each run reduces the fuel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Calls of functions and iterations of loops; `None` for no limit.
    pub fuel: Option<u64>,
    /// The depth of nested calls.
    pub depth: usize,
    /// Bytes of tensors and tapes that are held at once; `None` for no limit.
    pub memory: Option<usize>,
    /// The largest depth to which a derivative operator may be nested in itself through recursion.
    pub order: usize,
    /// The number of states of a loop that its reverse sweep keeps.
    pub checkpoints: Checkpoints,
}

impl Default for Budget {
    fn default() -> Budget {
        let eddy_body::Limits { fuel, depth, memory } = eddy_body::Limits::default();
        Budget { fuel, depth, memory, order: 4, checkpoints: Checkpoints::All }
    }
}

impl Budget {
    /// Runs a body and subtracts the fuel that it used.
    pub fn run(
        &mut self,
        program: &eddy_body::Program,
        body: BodyId,
        arguments: &[Value],
    ) -> Result<Vec<Value>, RunError> {
        self.spend(|limits| program.run_counting(body, arguments, limits))
    }

    /// Calls `run` with the remaining limits, and subtracts the fuel that it returns.
    pub fn spend<T>(&mut self, run: impl FnOnce(&eddy_body::Limits) -> (T, u64)) -> T {
        let Budget { fuel, depth, memory, .. } = *self;
        let (found, spent) = run(&eddy_body::Limits { fuel, depth, memory });
        self.fuel = fuel.map(|fuel| fuel.saturating_sub(spent));
        found
    }

    /// Turns a failure of a run into a diagnostic; for a limit, the help names the option that raises it.
    ///
    /// Code that differentiation adds may have no position; its failures are reported at `around`.
    pub fn diagnostic(&self, error: &RunError, around: Span) -> Diagnostic {
        let span = if error.span == Span::default() { around } else { error.span };
        let diagnostic = Diagnostic::error(codes::ARITHMETIC, span, error.failure.to_string());
        match (&error.failure, self.memory) {
            (Failure::Fuel, _) => diagnostic.help("`--fuel N` allows N calls and iterations"),
            (Failure::Depth, _) => {
                diagnostic.help(format!("`--depth N` allows N calls inside each other; now {}", self.depth))
            }
            (Failure::Memory, Some(bytes)) => {
                diagnostic.help(format!("`--memory B` allows B bytes of tensors and tapes; now {bytes}"))
            }
            (Failure::Memory, None) => {
                diagnostic.help(format!("a tensor has at most {} elements", eddy_tensor::MAX_ELEMENTS))
            }
            (Failure::Order, _) => diagnostic.help(format!(
                "`--order K` allows a derivative operator to be active K times at once; now {}",
                self.order
            )),
            _ => diagnostic,
        }
    }
}
