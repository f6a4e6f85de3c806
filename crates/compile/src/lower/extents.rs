//! Which rows of a product are read.
//!
//! The derivative of a product in `concat(x, h)` is a product whose first rows belong to `x`. If nothing wants them they are not computed.

use std::ops::Range;

use eddy_flow::VarId;
use eddy_tensor::Op;
use rustc_hash::FxHashMap;

use super::schedule::{Action, Scheduled};
use super::{Code, Right};
use crate::view::View;

/// For each product the rows that something reads, if those are not all.
pub(super) fn rows_read(code: &Code, scheduled: &Scheduled<'_>) -> FxHashMap<VarId, Range<usize>> {
    let mut read: FxHashMap<VarId, Range<usize>> = FxHashMap::default();
    for item in scheduled.actions.iter().flat_map(Action::items) {
        let is_wanted_whole = code.exports.contains_key(&item.statement.var);
        if matches!(item.statement.right, Right::Apply(Op::Matmul, _)) && !is_wanted_whole {
            read.insert(item.statement.var, usize::MAX..0);
        }
    }
    let items = scheduled.actions.iter().flat_map(Action::items).flat_map(|item| &item.reads);
    let conditions = scheduled.conditions.iter().flatten().map(|(view, _)| view);
    let kept = code.live_out.iter().filter_map(|var| scheduled.aliases.get(var));
    for view in items.chain(conditions).chain(kept) {
        if let Some(range) = view.var().and_then(|var| read.get_mut(&var)) {
            let elements = elements(view);
            *range = range.start.min(elements.start)..range.end.max(elements.end);
        }
    }
    for var in &code.live_out {
        read.remove(var);
    }
    for item in scheduled.actions.iter().flat_map(Action::items) {
        let shape = &item.statement.ty.shape;
        let (Some(range), Some(rows)) = (read.get_mut(&item.statement.var), shape.first()) else { continue };
        let row: usize = shape[1..].iter().product();
        if range.start < range.end && row > 0 {
            *range = range.start / row..range.end.div_ceil(row);
        } else {
            *range = 0..*rows;
        }
    }
    read
}

/// Where the first element of a view is, and where the last one ends.
fn elements(view: &View) -> Range<usize> {
    if view.shape.contains(&0) {
        return usize::MAX..0;
    }
    let reach: usize = view.shape.iter().zip(&view.strides).map(|(size, stride)| (size - 1) * stride).sum();
    view.offset..view.offset + reach + 1
}
