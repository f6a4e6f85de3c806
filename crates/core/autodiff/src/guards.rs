//! Removes the guards of gradients once all derivatives are taken: `if c then stop_gradient(x) else x` is x.
//!
//! Weaving writes such guards on the source side of delays. Without them no value waits for c, which may look
//! ahead.

use eddy_flow::{Flow, Kind, Role, VarId};
use eddy_tensor::Op;
use rustc_hash::FxHashMap;

/// Replaces each guard that weaving wrote by a copy. The flow is not differentiated any further.
pub fn remove_guards(flow: &mut Flow) {
    let stopped: FxHashMap<VarId, VarId> = flow
        .equations
        .iter()
        .filter_map(|equation| match &equation.kind {
            Kind::Apply(Op::StopGradient, operands) => Some((equation.out, operands[0])),
            _ => None,
        })
        .collect();
    for equation in &mut flow.equations {
        let Kind::Apply(Op::If, operands) = &equation.kind else { continue };
        let [_, yes, no] = operands[..] else { continue };
        let purpose = flow.vars[equation.out.index()].purpose;
        let is_woven = purpose.is_some_and(|purpose| purpose.role == Role::Reset);
        if is_woven && stopped.get(&yes) == Some(&no) {
            equation.kind = Kind::Apply(Op::Copy, Box::new([no]));
        }
    }
}
