//! The streams that carry derivatives (9.2): those that a source influences and that influence a sink,
//! through operands with derivatives.

use eddy_flow::{Equation, Kind, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::body::Step;
use crate::writer::Writer;

/// The streams that carry derivatives from `sources` to `sinks`; `passages` are the pairs of operand and
/// result through which derivatives pass.
pub(crate) fn active(
    writer: &Writer,
    passages: impl IntoIterator<Item = (VarId, VarId)>,
    sources: impl IntoIterator<Item = VarId>,
    sinks: impl IntoIterator<Item = VarId>,
) -> FxHashSet<VarId> {
    let mut forward: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
    let mut backward: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
    for (from, to) in passages {
        forward.entry(from).or_default().push(to);
        backward.entry(to).or_default().push(from);
    }
    let is_num = |var: &VarId| writer.is_num(*var);
    let influenced = reachable(sources.into_iter().filter(is_num), &forward);
    let influencing = reachable(sinks.into_iter().filter(is_num), &backward);
    influenced.intersection(&influencing).copied().collect()
}

pub(crate) fn reachable(
    from: impl Iterator<Item = VarId>,
    edges: &FxHashMap<VarId, Vec<VarId>>,
) -> FxHashSet<VarId> {
    let mut todo: Vec<VarId> = from.collect();
    let mut seen: FxHashSet<VarId> = todo.iter().copied().collect();
    while let Some(var) = todo.pop() {
        for next in edges.get(&var).into_iter().flatten() {
            if seen.insert(*next) {
                todo.push(*next);
            }
        }
    }
    seen
}

/// The pairs of operand and result through which derivatives pass.
pub(crate) fn passages(writer: &Writer, steps: &[Step<'_>]) -> Vec<(VarId, VarId)> {
    let of_step = |step: &Step<'_>| match step {
        Step::Equation(equation) => {
            let operands = differentiable_operands(writer, equation);
            operands.into_iter().map(|(_, operand)| (operand, equation.out)).collect()
        }
        Step::Instance(placed) => {
            let instance = &placed.instance;
            let to = |from: VarId| instance.differentiable().map(move |to| (from, to));
            instance.varying().flat_map(to).collect::<Vec<_>>()
        }
    };
    steps.iter().flat_map(of_step).collect()
}

/// The operands of an equation through which derivatives pass, with their positions.
pub(crate) fn differentiable_operands(writer: &Writer, equation: &Equation) -> Vec<(usize, VarId)> {
    if !writer.is_num(equation.out) {
        return Vec::new();
    }
    let passes = |position: usize| match &equation.kind {
        Kind::Const(_) | Kind::Param(_) => false,
        Kind::Apply(op, _) => op.is_differentiable_in(position),
        Kind::When { .. } => position == 0,
        Kind::Merge { .. } => position > 0,
        Kind::Fby { .. } | Kind::FbyBack { .. } | Kind::Post(_) => true,
    };
    let operands = equation.kind.operands().enumerate();
    operands.filter(|(position, operand)| passes(*position) && writer.is_num(*operand)).collect()
}
