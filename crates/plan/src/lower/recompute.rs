//! Recomputation (section 7): a buffer whose values are cheap to compute again from what is kept anyway is not needed.
//!
//! Buffers are looked at from the last to the first. One is dropped if its operation is cheap and its operands are in buffers, inputs,
//! constants or held; the steps that read it then compute it again. An operand may be dropped later, and is then computed again too.

use eddy_flow::VarId;
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cells::{Cell, Cells, Pull};
use crate::plan::BufferRole;
use crate::region::{Draft, order_within};
use crate::sweeps::StepKind;
use crate::system::Def;
use crate::zones::INNER;

/// What is computed again.
#[derive(Default)]
pub struct Repeats {
    /// For each step the streams whose inner cells it computes again, in order.
    pub of_step: FxHashMap<usize, Vec<VarId>>,
    /// The last step in which each stream is an operand of something that is computed again.
    readers: FxHashMap<VarId, usize>,
}

impl Repeats {
    /// The last step that reads a stream to compute something again.
    pub fn last_reader(&self, var: VarId) -> Option<usize> {
        self.readers.get(&var).copied()
    }
}

/// Decides what is computed again; takes it out of `buffered`.
pub fn repeats(
    cells: &Cells<'_>,
    draft: &Draft,
    wanted: &[(VarId, BufferRole, bool)],
    read_after: &FxHashSet<Cell>,
    buffered: &mut FxHashSet<VarId>,
) -> Repeats {
    let graph = &draft.graph;
    let step = |node: usize| draft.schedule.step_of[node];
    // The steps that read a stream besides its own.
    let mut readers: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    let mut candidates: Vec<VarId> = Vec::new();
    for (var, role, _) in wanted {
        let Some(node) = graph.number(*var, INNER) else { continue };
        let is_sweep = matches!(draft.schedule.steps[step(node)], StepKind::Sweep(_));
        let crossing: Vec<_> =
            graph.users[node].iter().filter(|(user, _)| step(*user) != step(node)).collect();
        let is_simple = crossing.iter().all(|(user, pull)| {
            *pull == Pull::Here && matches!(draft.schedule.steps[step(*user)], StepKind::Sweep(_))
        });
        readers.insert(*var, crossing.iter().map(|(user, _)| step(*user)).collect());
        let is_free = *role == BufferRole::Sweeps && !read_after.contains(&(*var, INNER));
        if is_free
            && is_sweep
            && is_simple
            && is_cheap(cells.system.def(*var))
            && cells.evaluation.is_open(*var, INNER)
        {
            candidates.push(*var);
        }
    }
    // Operands come before what they are operands of.
    let rank = ranks(draft);
    candidates.sort_unstable_by_key(|var| std::cmp::Reverse(rank[var]));
    let mut dropped: Vec<(VarId, Vec<usize>)> = Vec::new();
    for var in candidates {
        let operands: Vec<VarId> =
            cells.deps(var, INNER).cells.into_iter().map(|((operand, _), _)| operand).collect();
        let is_kept = |operand: &VarId| {
            !cells.is_inside[operand.index()]
                || buffered.contains(operand)
                || draft.held.contains_key(operand)
        };
        if operands.contains(&var) || !operands.iter().all(is_kept) {
            continue;
        }
        let mut steps = readers.remove(&var).unwrap_or_default();
        steps.sort_unstable();
        steps.dedup();
        for operand in &operands {
            readers.entry(*operand).or_default().extend(&steps);
        }
        buffered.remove(&var);
        dropped.push((var, steps));
    }
    let mut repeats = Repeats::default();
    for (var, steps) in &readers {
        if let Some(last) = steps.iter().max() {
            repeats.readers.insert(*var, *last);
        }
    }
    // The last one was dropped first, so operands come first in the opposite order.
    for (var, steps) in dropped.into_iter().rev() {
        for step in steps {
            repeats.of_step.entry(step).or_default().push(var);
        }
    }
    repeats
}

/// The position of each stream in an order in which operands at the same cycle come first.
fn ranks(draft: &Draft) -> FxHashMap<VarId, usize> {
    let graph = &draft.graph;
    let inner: Vec<usize> = (0..graph.nodes.len()).filter(|node| graph.nodes[*node].1 == INNER).collect();
    let order = order_within(&inner, |node| {
        let here =
            graph.edges[node].iter().filter(|(to, pull)| *pull == Pull::Here && graph.nodes[*to].1 == INNER);
        here.map(|(to, _)| *to).collect()
    });
    // Streams of a unit may need each other; they are no candidates.
    let order = order.unwrap_or(inner);
    order.into_iter().enumerate().map(|(rank, node)| (graph.nodes[node].0, rank)).collect()
}

/// Whether computing a cell again costs no more than keeping it: one pass over its elements.
fn is_cheap(def: &Def) -> bool {
    match def {
        Def::Copy(_) | Def::Choice { .. } => true,
        Def::Apply(op, _) => match op {
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Pow | Op::Maximum | Op::Minimum => true,
            Op::IntDiv | Op::IntMod | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne => true,
            Op::And | Op::Or | Op::Not | Op::Neg | Op::Abs | Op::Relu | Op::Exp | Op::Log => true,
            Op::Sqrt | Op::Tanh | Op::Sigmoid | Op::Sin | Op::Cos | Op::Where | Op::Copy => true,
            Op::Index(_) | Op::Reshape(_) | Op::ToNum | Op::ToInt | Op::StopGradient => true,
            Op::ZerosLike | Op::OnesLike => true,
            _ => false,
        },
        _ => false,
    }
}
