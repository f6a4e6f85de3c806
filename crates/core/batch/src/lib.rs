//! Runs several independent streams in lock-step through one program, as a translation of flow to flow.
//!
//! A variable that depends on data gets a last axis, with one index for each stream of the batch; a variable
//! that all streams share, such as a parameter, stays as it is:
//!
//! ```text
//! x : num[3]                       x : num[3,B]
//! k : num[2,3]  = param(…)         k : num[2,3]  = param(…)
//! y : num[2]    = matmul(k, x)     y : num[2,B]  = matmul(k, x)
//! z : num[2]    = y + b            z : num[2,B]  = y + reshape([2,1], b)
//! ```
//!
//! With the axis at the end, a matrix times a vector becomes one dense product, arithmetic runs along the
//! batch without gaps, and rows keep their indices. Each number is computed by the same operations in the
//! same order as in a separate run, so the bits are the same.
//!
//! The translation comes after differentiation and knows nothing of it, with one exception: the gradient of a
//! parameter is the sum of the gradients of all streams. Differentiation marks these equations ([`sums`]).
//!
//! *Lock-step* means that the streams are present at the same cycles. So conditions of clocks are shared, and
//! so are all inputs that they depend on ([`shared`]).
//!
//! * [`shared`]: which variables are the same for the whole batch.
//! * [`writer`]: builds the new equations.
//! * [`equations`], with [`operations`] and [`products`]: how an equation is translated.
//! * [`sums`]: sums over the batch, moved to where they are cheap.

mod equations;
mod operations;
mod products;
mod shared;
mod sums;
mod writer;

use eddy_flow::codes::BATCH;
use eddy_flow::{Flow, VarId};
use eddy_syntax::Diagnostic;
use eddy_tensor::Type;

use shared::WideVars;
use writer::Writer;

/// Facts about a batched flow.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The number of streams.
    pub n: usize,
    /// The type of each input in a single stream.
    pub inputs: Vec<Type>,
    /// For each variable whether it has an axis for the streams.
    is_wide: Vec<bool>,
}

impl Batch {
    /// Whether a variable has an axis for the streams; otherwise all streams share it.
    pub fn is_wide(&self, var: VarId) -> bool {
        self.is_wide[var.index()]
    }

    /// Adds `n` variables after all others.
    pub fn add_vars(&mut self, n: usize, are_wide: bool) {
        self.is_wide.extend(std::iter::repeat_n(are_wide, n));
    }
}

/// Makes a flow run `n` streams at once. `gradients` are the copies through which the gradients of parameters
/// pass.
pub fn batch(flow: Flow, n: usize, gradients: &[VarId]) -> Result<(Flow, Batch), Vec<Diagnostic>> {
    let inputs = flow.inputs.iter().map(|input| flow.var(*input).ty.clone()).collect();
    let wide_vars = WideVars::of(&flow, gradients);
    check_learnt_is_shared(&flow, &wide_vars)?;
    let mut writer = Writer::new(flow, n, wide_vars).map_err(|too_large| vec![*too_large])?;
    equations::translate(&mut writer);
    let removed = sums::translate(&mut writer, gradients);
    let (flow, is_wide) = writer.finish(&removed);
    Ok((flow, Batch { n, inputs, is_wide }))
}

/// Checks that parameters and the state of optimisers are shared.
fn check_learnt_is_shared(flow: &Flow, wide_vars: &WideVars) -> Result<(), Vec<Diagnostic>> {
    let mut learnt = flow.parameters.iter().chain(&flow.persistent_state);
    let Some(separate) = learnt.find(|named| wide_vars.is_wide(named.var)) else { return Ok(()) };
    let title = format!("`{}` would be learnt separately by each stream of the batch", separate.name);
    Err(vec![
        Diagnostic::error(BATCH, flow.var(separate.var).span, title)
            .reason("it depends on data other than through the gradient of a parameter")
            .help("leave out `--batch`"),
    ])
}
