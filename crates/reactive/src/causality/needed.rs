//! What some streams are made of: their operands, the conditions of their clocks, and so on; and which of them wait for later cycles.
//!
//! A run that shows some streams computes what they are made of. Of the others it computes those that wait for nothing, since an operation without a
//! value stops a program even if nobody reads the result; what waits for later cycles is left alone.

use crate::clocks::{Clock, Clocks};
use crate::flow::{Flow, Kind, VarId};

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

/// Whether each stream is made of a `post` or a `fby back`.
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
