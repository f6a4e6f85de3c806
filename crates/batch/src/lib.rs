//! Several independent streams in lock-step through one program, as a translation of flow to flow.
//!
//! Each stream that depends on data gets a last axis, along which the streams of the batch lie; what is the same for all of them,
//! such as parameters, stays as it is:
//!
//! ```text
//! x : num[3]                       x : num[3,B]
//! k : num[2,3]  = param(…)         k : num[2,3]  = param(…)
//! y : num[2]    = matmul(k, x)     y : num[2,B]  = matmul(k, x)
//! z : num[2]    = y + b            z : num[2,B]  = y + reshape([2,1], b)
//! ```
//!
//! With the axis at the end, a matrix times a vector becomes one dense product, arithmetic runs along the batch without gaps, and rows are
//! what they were. Each number is computed by the same operations in the same order as by a run of its own, so the bits are the same.
//!
//! The translation comes after differentiation and knows nothing of it, with one exception: the gradient of a parameter is the sum of
//! those of all streams. Differentiation says at which equations that is ([`sums`]).
//!
//! *Lock-step* means that the streams are there at the same cycles. So conditions of clocks are shared, and so is every input that
//! they depend on ([`shared`]).
//!
//! * [`shared`]: which streams are the same for the whole batch.
//! * [`writer`]: writes equations.
//! * [`equations`], with [`operations`] and [`products`]: what becomes of an equation.
//! * [`sums`]: the sums over the batch, moved to where they are cheap.

mod equations;
mod operations;
mod products;
mod shared;
mod sums;
mod writer;

use eddy_flow::{Flow, VarId};
use eddy_syntax::{Code, Diagnostic};
use eddy_tensor::Type;

use shared::Shares;
use writer::Writer;

/// A program or its data cannot run as a batch.
pub const BATCH: Code = "E0905";

/// What is known about a flow that was batched.
#[derive(Clone, Debug)]
pub struct Batch {
    /// How many streams there are.
    pub n: usize,
    /// For each input the type that it has in one stream.
    pub inputs: Vec<Type>,
    /// For each variable whether it has an axis for the streams.
    is_wide: Vec<bool>,
}

impl Batch {
    /// Whether a variable has an axis for the streams; otherwise it is the same for all.
    pub fn is_wide(&self, var: VarId) -> bool {
        self.is_wide[var.index()]
    }
}

/// Makes a flow run `n` streams at once; `gradients` are the copies through which the gradients of parameters pass.
pub fn batch(flow: Flow, n: usize, gradients: &[VarId]) -> Result<(Flow, Batch), Vec<Diagnostic>> {
    let inputs = flow.inputs.iter().map(|input| flow.var(*input).ty.clone()).collect();
    let shares = Shares::of(&flow, gradients);
    learnt_together(&flow, &shares)?;
    let mut writer = Writer::new(flow, n, shares).map_err(|too_large| vec![*too_large])?;
    equations::translate(&mut writer);
    let gone = sums::translate(&mut writer, gradients);
    let (flow, is_wide) = writer.finish(&gone);
    Ok((flow, Batch { n, inputs, is_wide }))
}

/// What is learnt must be the same for all streams.
fn learnt_together(flow: &Flow, shares: &Shares) -> Result<(), Vec<Diagnostic>> {
    let mut learnt = flow.parameters.iter().chain(&flow.memory);
    let Some(apart) = learnt.find(|named| shares.is_wide(named.var)) else { return Ok(()) };
    let title = format!("`{}` would be learnt by each stream of the batch for itself", apart.name);
    Err(vec![
        Diagnostic::error(BATCH, flow.var(apart.var).span, title)
            .reason("it depends on data in another way than through the gradient of a parameter")
            .help("leave out `--batch`"),
    ])
}
