//! Transitive dependencies of streams through operands and the conditions of clocks; and the streams that
//! wait for later cycles.
//!
//! A run that shows some streams computes their dependencies. Of the other streams it computes those that
//! wait for no later cycle, because an operation without a value stops a program even if its result is dead.
//! It skips the rest.

use crate::clocks::{Clock, Clocks};
use crate::flow::{Flow, Kind, VarId};

/// For each stream, whether it is in `by` or a dependency of a stream in `by`.
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
        // The presence of a stream may depend on its condition alone, as for a constant. The clock of the
        // condition follows from the condition.
        if let Clock::On { condition, .. } = clocks.clock(clocks.of(var)) {
            todo.push(condition);
        }
    }
    is_needed
}

/// For each stream, whether it depends on a `post` or a `fby back`.
pub fn waiting(flow: &Flow, clocks: &Clocks) -> Vec<bool> {
    let mut users = vec![Vec::new(); flow.vars.len()];
    let mut todo = Vec::new();
    for equation in &flow.equations {
        for operand in equation.kind.operands() {
            users[operand.index()].push(equation.out);
        }
        if matches!(equation.kind, Kind::Post(_) | Kind::FbyBack { .. }) {
            todo.push(equation.out);
        }
    }
    for var in flow.var_ids() {
        if let Clock::On { condition, .. } = clocks.clock(clocks.of(var)) {
            users[condition.index()].push(var);
        }
    }
    let mut is_waiting = vec![false; flow.vars.len()];
    while let Some(var) = todo.pop() {
        if !std::mem::replace(&mut is_waiting[var.index()], true) {
            todo.extend(&users[var.index()]);
        }
    }
    is_waiting
}
