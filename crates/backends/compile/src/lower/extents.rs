//! Finds the rows of a product that are read.
//!
//! The derivative of a product in `concat(x, h)` is a product whose first rows belong to `x`. Rows that are
//! not read are not computed.

use std::ops::Range;

use eddy_flow::VarId;
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::schedule::{Action, Item, Scheduled};
use super::{Code, Right};
use crate::view::View;

/// For each product the rows that are read, if those are not all.
pub(super) fn rows_read(code: &Code, scheduled: &Scheduled<'_>) -> FxHashMap<VarId, Range<usize>> {
    let items = || scheduled.actions.iter().flat_map(Action::items);
    let wholes: FxHashSet<VarId> = code.exports.keys().chain(&code.live_out).copied().collect();
    let is_product = |item: &&Item<'_>| matches!(item.statement.right, Right::Apply(Op::Matmul, _));
    let products =
        items().filter(is_product).map(|item| item.statement.var).filter(|var| !wholes.contains(var));
    let products: FxHashSet<VarId> = products.collect();
    let conditions = scheduled.conditions.iter().flatten().map(|(view, _)| view);
    let kept = code.live_out.iter().filter_map(|var| scheduled.aliases.get(var));
    let mut read: FxHashMap<VarId, Range<usize>> = FxHashMap::default();
    for view in items().flat_map(|item| &item.reads).chain(conditions).chain(kept) {
        let Some(var) = view.var().filter(|var| products.contains(var)) else { continue };
        let Some(elements) = elements(view) else { continue };
        let range = read.entry(var).or_insert_with(|| elements.clone());
        *range = range.start.min(elements.start)..range.end.max(elements.end);
    }
    for item in items() {
        if let (Some(range), [_, rest @ ..]) = (read.get_mut(&item.statement.var), &*item.statement.ty.shape)
        {
            let row: usize = rest.iter().product();
            *range = range.start / row..range.end.div_ceil(row);
        }
    }
    read
}

/// The range of elements of a view.
fn elements(view: &View) -> Option<Range<usize>> {
    let mut reach = 0;
    for (size, stride) in view.shape.iter().zip(&view.strides) {
        reach += size.checked_sub(1)? * stride;
    }
    Some(view.offset..view.offset + reach + 1)
}
