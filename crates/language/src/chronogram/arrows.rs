//! Finds the cells that are read at another cycle.
//!
//! A delay reads its neighbouring activation. Streams inside of expressions are not shown; an arrow skips
//! them, and leads from a shown stream at the cycle that is read to the shown stream that reads it.

use crate::flow::{Flow, Kind, VarId};
use crate::semantics::Cell;

/// A read across time; rows are indices of shown streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arrow {
    /// The row and the cycle that are read.
    pub from: (usize, usize),
    /// The row and the cycle that read.
    pub to: (usize, usize),
}

/// The arrows between shown streams.
pub fn arrows(
    flow: &Flow,
    shown: &[VarId],
    n_cycles: usize,
    cell: &impl Fn(VarId, usize) -> Cell,
) -> Vec<Arrow> {
    let definitions = flow.definitions();
    let row_of = |var: VarId| shown.iter().position(|other| *other == var);
    let mut arrows = Vec::new();
    for (row, var) in shown.iter().enumerate() {
        for cycle in 0..n_cycles {
            // Backwards through streams that are not shown.
            let mut todo = vec![(*var, cycle)];
            let mut seen = Vec::new();
            while let Some((var, at)) = todo.pop() {
                let Some(number) = definitions[var.index()] else { continue };
                for (operand, at) in reads(&flow.equations[number].kind, var, at, n_cycles, cell) {
                    match row_of(operand) {
                        Some(from) if at != cycle => {
                            arrows.push(Arrow { from: (from, at), to: (row, cycle) });
                        }
                        Some(_) => {}
                        None if !seen.contains(&(operand, at)) => {
                            seen.push((operand, at));
                            todo.push((operand, at));
                        }
                        None => {}
                    }
                }
            }
        }
    }
    arrows.sort_unstable();
    arrows.dedup();
    arrows
}

/// The cells that determine the result of an equation at a cycle.
fn reads(
    kind: &Kind,
    out: VarId,
    cycle: usize,
    n_cycles: usize,
    cell: &impl Fn(VarId, usize) -> Cell,
) -> Vec<(VarId, usize)> {
    let is_there = |at: &usize| cell(out, *at).is_present();
    if !is_there(&cycle) {
        return Vec::new();
    }
    match kind {
        Kind::Fby { init, next } => match (0..cycle).rev().find(is_there) {
            Some(earlier) => vec![(*next, earlier)],
            None => vec![(*init, cycle)],
        },
        Kind::Post(next) => {
            (cycle + 1..n_cycles).find(is_there).map(|later| (*next, later)).into_iter().collect()
        }
        Kind::FbyBack { init, next } => match (cycle + 1..n_cycles).find(is_there) {
            Some(later) => vec![(*next, later)],
            None => vec![(*init, cycle)],
        },
        Kind::Merge { condition, yes, no } => {
            let chosen = match cell(*condition, cycle).truth() {
                Some(true) => Some(*yes),
                Some(false) => Some(*no),
                None => None,
            };
            chosen.into_iter().chain([*condition]).map(|operand| (operand, cycle)).collect()
        }
        Kind::Apply(eddy_tensor::Op::If, operands) => {
            let chosen = match cell(operands[0], cycle).truth() {
                Some(true) => Some(operands[1]),
                Some(false) => Some(operands[2]),
                None => None,
            };
            chosen.into_iter().chain([operands[0]]).map(|operand| (operand, cycle)).collect()
        }
        _ => kind.operands().map(|operand| (operand, cycle)).collect(),
    }
}
