//! The support of a cotangent: a boolean that says where it can differ from zero (9.5, 9.7).
//!
//! `train` without `segment` and `truncate` updates a parameter at the cycles that its gradient reaches.

use eddy_flow::{Equation, Kind, Polarity, VarId};
use eddy_tensor::{Algebra, Op, Scalar, Shape, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::activity::differentiable_operands;
use crate::body::Step;
use crate::renaming::Renaming;
use crate::writer::Writer;

/// Defines the supports of some streams' cotangents; the seed is at `sink`, wherever that is present.
pub(crate) fn supports(
    steps: &[Step<'_>],
    active: &FxHashSet<VarId>,
    sink: VarId,
    wanted: &[(VarId, VarId)],
    writer: &mut Writer,
) {
    if wanted.is_empty() {
        return;
    }
    let boolean = Type { scalar: Scalar::Bool, shape: Shape::scalar() };
    let wanted: FxHashMap<VarId, VarId> = wanted.iter().copied().collect();
    let mut order: Vec<VarId> = active.iter().copied().collect();
    order.sort_unstable();
    let of: FxHashMap<VarId, VarId> = order
        .iter()
        .map(|var| (*var, wanted.get(var).copied().unwrap_or_else(|| writer.fresh(boolean.clone()))))
        .collect();
    let mut renaming = Renaming::new(writer, wanted.values().copied().collect());
    let mut uses: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
    for step in steps.iter().rev() {
        match step {
            Step::Equation(equation) => {
                let Some(support) = of.get(&equation.out) else { continue };
                writer.at_equation(equation);
                for (position, operand) in differentiable_operands(writer, equation).into_iter().rev() {
                    if of.contains_key(&operand) {
                        let part = contribution(equation, position, *support, writer);
                        uses.entry(operand).or_default().push(part);
                    }
                }
            }
            Step::Instance(placed) => {
                let instance = &placed.instance;
                writer.at(instance.span);
                let supports: Vec<VarId> =
                    instance.differentiable().filter_map(|output| of.get(&output).copied()).collect();
                let Some((first, rest)) = supports.split_first() else { continue };
                let either =
                    rest.iter().fold(*first, |either, other| writer.apply(Op::Or, &[either, *other]));
                for input in instance.varying().filter(|input| of.contains_key(input)) {
                    uses.entry(input).or_default().push(either);
                }
            }
        }
    }
    for var in order.iter().rev() {
        writer.at_stream(*var);
        let seed = (*var == sink).then(|| writer.truth(true));
        let mut parts = uses.remove(var).unwrap_or_default();
        parts.extend(seed);
        parts.reverse();
        // Duplicate supports count once.
        let mut seen = FxHashSet::default();
        parts.retain(|part| seen.insert(*part));
        let (first, rest) = parts.split_first().expect("an active stream has a use");
        let either = rest.iter().fold(*first, |either, other| writer.apply(Op::Or, &[either, *other]));
        renaming.define_copy(of[var], either, writer);
    }
    for (var, step) in wanted.iter().filter(|(var, _)| !active.contains(var)) {
        // A parameter that the loss does not depend on is never updated.
        writer.at_stream(*var);
        let never = writer.truth(false);
        writer.define_copy(*step, never);
    }
    renaming.finish(writer);
}

/// The contribution of a result's support to that of an operand.
fn contribution(equation: &Equation, position: usize, support: VarId, writer: &mut Writer) -> VarId {
    match &equation.kind {
        Kind::When { condition, polarity, .. } => {
            let never = writer.truth(false);
            match polarity {
                Polarity::On => writer.merge(*condition, support, never),
                Polarity::OnNot => writer.merge(*condition, never, support),
            }
        }
        Kind::Merge { condition, .. } => {
            let polarity = if position == 1 { Polarity::On } else { Polarity::OnNot };
            writer.when(support, *condition, polarity)
        }
        Kind::Fby { .. } if position == 1 => {
            let never = writer.truth(false);
            writer.fby_back(never, support)
        }
        Kind::FbyBack { .. } if position == 1 => later(support, writer),
        Kind::Post(_) => later(support, writer),
        _ => support,
    }
}

/// `false fby b`.
fn later(support: VarId, writer: &mut Writer) -> VarId {
    let never = writer.truth(false);
    writer.fby(never, support)
}
