//! Which streams are the same for the whole batch.
//!
//! A variable is *wide* if its values may differ between the streams of a batch, that is, if it depends on an
//! input that is not shared. An input is shared if a condition depends on it, since streams in lock-step are
//! present at the same cycles, or if the initial value of a parameter depends on it. These dependencies do
//! not pass through the gradient of a parameter, which is a sum over all streams.

use eddy_flow::{Flow, Kind, VarId};
use rustc_hash::FxHashSet;

/// For each variable whether it is wide.
#[derive(Clone, Debug)]
pub(crate) struct WideVars {
    is_wide: Vec<bool>,
}

impl WideVars {
    pub fn of(flow: &Flow, gradients: &[VarId]) -> WideVars {
        let sums: FxHashSet<VarId> = gradients.iter().copied().collect();
        let is_shared = shared_vars(flow, &sums);
        let mut readers: Vec<Vec<VarId>> = vec![Vec::new(); flow.vars.len()];
        for equation in flow.equations.iter().filter(|equation| !sums.contains(&equation.out)) {
            for operand in equation.kind.operands() {
                readers[operand.index()].push(equation.out);
            }
        }
        let own = flow.inputs.iter().copied().filter(|input| !is_shared[input.index()]);
        WideVars { is_wide: reached(flow.vars.len(), own, |var| &readers[var.index()]) }
    }

    pub fn is_wide(&self, var: VarId) -> bool {
        self.is_wide[var.index()]
    }

    pub fn into_inner(self) -> Vec<bool> {
        self.is_wide
    }
}

/// The variables that conditions and initial values of parameters depend on.
fn shared_vars(flow: &Flow, sums: &FxHashSet<VarId>) -> Vec<bool> {
    let mut operands: Vec<Vec<VarId>> = vec![Vec::new(); flow.vars.len()];
    let mut conditions: Vec<VarId> = flow
        .clocks
        .iter()
        .flat_map(|clock| clock.conditions.iter().map(|(condition, _)| *condition))
        .collect();
    for equation in &flow.equations {
        if !sums.contains(&equation.out) {
            operands[equation.out.index()].extend(equation.kind.operands());
        }
        match equation.kind {
            Kind::When { condition, .. } | Kind::Merge { condition, .. } => conditions.push(condition),
            Kind::Param(init) => conditions.push(init),
            _ => {}
        }
    }
    reached(flow.vars.len(), conditions, |var| &operands[var.index()])
}

fn reached<'a>(
    n_vars: usize,
    from: impl IntoIterator<Item = VarId>,
    next: impl Fn(VarId) -> &'a Vec<VarId>,
) -> Vec<bool> {
    let mut is_reached = vec![false; n_vars];
    let mut todo: Vec<VarId> = from.into_iter().collect();
    while let Some(var) = todo.pop() {
        if !std::mem::replace(&mut is_reached[var.index()], true) {
            todo.extend(next(var));
        }
    }
    is_reached
}
