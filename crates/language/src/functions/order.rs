//! The nesting depth of derivatives in the text (functions.md, section 5.4).

use eddy_body::ir::{BodyId, Kind, Mode, Module, Region};

/// The order to which derivatives are expanded. Nesting in the text has no limit; nesting through recursion
/// is limited to `recursive`.
pub fn max_order(module: &Module, recursive: usize) -> usize {
    let calls: Vec<Vec<(BodyId, bool)>> = module.bodies.iter().map(|body| calls_of(&body.region)).collect();
    // The deepest nesting below each body; `None` while it is being computed, which excludes recursive calls.
    let mut depths: Vec<Option<usize>> = vec![None; calls.len()];
    let mut is_open = vec![false; calls.len()];
    for root in 0..calls.len() {
        let mut work = vec![root];
        while let Some(at) = work.last().copied() {
            if depths[at].is_some() {
                work.pop();
                continue;
            }
            if !is_open[at] {
                is_open[at] = true;
                let is_waiting = |callee: &usize| depths[*callee].is_none() && !is_open[*callee];
                work.extend(calls[at].iter().map(|(callee, _)| callee.index()).filter(is_waiting));
                continue;
            }
            let below = |(callee, is_derivative): &(BodyId, bool)| {
                depths[callee.index()].unwrap_or(0) + usize::from(*is_derivative)
            };
            depths[at] = Some(calls[at].iter().map(below).max().unwrap_or(0));
            is_open[at] = false;
            work.pop();
        }
    }
    depths.into_iter().flatten().max().unwrap_or(0).max(recursive)
}

/// The bodies that a region calls, and whether it calls their derivatives.
fn calls_of(region: &Region) -> Vec<(BodyId, bool)> {
    let (mut calls, mut work) = (Vec::new(), vec![region]);
    while let Some(region) = work.pop() {
        for stmt in &region.stmts {
            if let Kind::Call(mode, callee, _) = &stmt.kind {
                calls.push((*callee, *mode != Mode::Plain));
            }
            work.extend(stmt.kind.regions());
        }
    }
    calls
}
