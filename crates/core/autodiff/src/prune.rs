//! Removes the equations that some wanted streams do not need.

use eddy_flow::VarId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::body::{Body, Placed};

/// The equations that these streams depend on; an instance is kept as a whole or not at all.
pub fn prune(body: &Body, wanted: &[VarId]) -> Body {
    let definitions: FxHashMap<VarId, usize> =
        body.equations.iter().enumerate().map(|(number, equation)| (equation.out, number)).collect();
    let mut is_kept = vec![false; body.equations.len()];
    let mut todo: Vec<usize> = wanted.iter().filter_map(|var| definitions.get(var).copied()).collect();
    while let Some(number) = todo.pop() {
        if std::mem::replace(&mut is_kept[number], true) {
            continue;
        }
        let operands = body.equations[number].kind.operands();
        todo.extend(operands.filter_map(|operand| definitions.get(&operand).copied()));
        let around = body.instances.iter().filter(|placed| placed.range.contains(&number));
        todo.extend(around.flat_map(|placed| placed.range.clone()));
    }
    // The number of kept equations before each one.
    let mut before = vec![0];
    for kept in &is_kept {
        before.push(before[before.len() - 1] + usize::from(*kept));
    }
    let equations = body.equations.iter().zip(&is_kept).filter(|(_, kept)| **kept);
    let kept = |placed: &&Placed| placed.range.clone().any(|number| is_kept[number]);
    let instances = body.instances.iter().filter(kept).map(|placed| Placed {
        range: before[placed.range.start]..before[placed.range.end],
        instance: placed.instance.clone(),
    });
    Body {
        equations: equations.map(|(equation, _)| equation.clone()).collect(),
        instances: instances.collect(),
    }
}

/// The streams that equations mention.
pub(crate) fn mentioned(body: &Body) -> FxHashSet<VarId> {
    body.equations.iter().flat_map(|equation| equation.kind.operands().chain([equation.out])).collect()
}
