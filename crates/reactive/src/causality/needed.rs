//! What some streams are made of: their operands, the conditions of their clocks, and so on.

use crate::clocks::{Clock, Clocks};
use crate::flow::{Flow, VarId};

/// Whether each stream is one of these, or something that they are made of.
pub fn needed(flow: &Flow, clocks: &Clocks, by: &[VarId]) -> Vec<bool> {
    let definitions = flow.definitions();
    let mut is_needed = vec![false; flow.vars.len()];
    let mut todo = by.to_vec();
    while let Some(var) = todo.pop() {
        if std::mem::replace(&mut is_needed[var.index()], true) {
            continue;
        }
        if let Some(number) = definitions[var.index()] {
            todo.extend(flow.equations[number].kind.operands());
        }
        // Whether a stream is there may be known from its condition alone, as for a constant. The condition brings its own.
        if let Clock::On { condition, .. } = clocks.clock(clocks.of(var)) {
            todo.push(condition);
        }
    }
    is_needed
}
