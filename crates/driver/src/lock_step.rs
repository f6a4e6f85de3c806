//! Joins the cells of several streams, which must be present at the same cycles.

use eddy_batch::Batch;
use eddy_flow::Flow;
use eddy_language::semantics::Cell;
use eddy_tensor::Value;
use eddy_tensor::slices::stack;

/// An input that must be the same in two streams and is not.
pub struct Difference {
    /// The number of the input.
    pub input: usize,
    /// One stream.
    pub first: usize,
    /// The other.
    pub second: usize,
}

/// The cells of all inputs at one cycle, joined from those of each stream: equal where they must be, and
/// present or absent together.
pub fn joined(flow: &Flow, batch: &Batch, streams: &[&[Cell]]) -> Result<Vec<Cell>, Difference> {
    let inputs = flow.inputs.iter().enumerate();
    inputs.map(|(input, var)| cell(batch.is_wide(*var), input, streams)).collect()
}

/// Whether two streams with these rows can run together.
pub fn go_together(flow: &Flow, batch: &Batch, left: &[Cell], right: &[Cell]) -> bool {
    let mut inputs = flow.inputs.iter().zip(left.iter().zip(right));
    inputs.all(|(var, (left, right))| is_alike(batch.is_wide(*var), left, right))
}

fn cell(is_wide: bool, input: usize, streams: &[&[Cell]]) -> Result<Cell, Difference> {
    let first = &streams[0][input];
    if let Some(second) = streams.iter().position(|cells| !is_alike(is_wide, first, &cells[input])) {
        return Err(Difference { input, first: 0, second });
    }
    if !is_wide {
        return Ok(first.clone());
    }
    let values: Vec<&Value> = streams.iter().filter_map(|cells| cells[input].value()).collect();
    Ok(if values.is_empty() { first.clone() } else { Cell::Value(stack(&values)) })
}

fn is_alike(is_wide: bool, left: &Cell, right: &Cell) -> bool {
    match (left, right) {
        (Cell::Value(_), Cell::Value(_)) if is_wide => true,
        _ => left == right,
    }
}
