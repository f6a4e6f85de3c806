//! Recomputation (section 7): drops buffers whose values are cheap to recompute from stored values.
//!
//! Two methods find such buffers. The greedy one goes from the last buffer to the first and drops one if few
//! and cheap operations compute its value from other buffers, inputs, constants and held values. The other is
//! a minimum [`cut`](super::cut) between the computation of a value and its readers; it may store streams
//! that no other step reads, and recomputes all operations but reductions, matrix products and convolutions.
//! The cut is used if it stores fewer bytes. Either way, steps that read a dropped value recompute it, with
//! all intermediate values.

#![deny(clippy::wildcard_enum_match_arm)]

use eddy_flow::VarId;
use eddy_tensor::{Cost, Family};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cut::{Origin, cut};
use super::late::width;
use crate::Recompute;
use crate::cells::{Cell, Cells, Pull};
use crate::plan::BufferRole;
use crate::region::{Draft, order_within};
use crate::sweeps::StepKind;
use crate::system::Def;
use crate::zones::INNER;

/// The recomputed streams.
#[derive(Default)]
pub struct Repeats {
    /// For each step the streams whose inner cells it recomputes, in order.
    pub of_step: FxHashMap<usize, Vec<VarId>>,
    /// The last step in which each stream is an operand of a recomputed value.
    readers: FxHashMap<VarId, usize>,
}

impl Repeats {
    /// The last step that reads a stream for recomputation.
    pub fn last_reader(&self, var: VarId) -> Option<usize> {
        self.readers.get(&var).copied()
    }
}

/// Decides which streams to recompute. Removes them from `buffered`, and may add other streams to it.
pub fn repeats(
    cells: &Cells<'_>,
    draft: &Draft,
    wanted: &[(VarId, BufferRole, bool)],
    read_after: &FxHashSet<Cell>,
    buffered: &mut FxHashSet<VarId>,
    recompute: Recompute,
) -> Repeats {
    let rank = ranks(draft);
    let mut candidates: Vec<VarId> =
        wanted.iter().filter(|(_, role, _)| *role == BufferRole::Sweeps).map(|(var, ..)| *var).collect();
    candidates.retain(|var| !read_after.contains(&(*var, INNER)) && is_read_simply(draft, *var));
    candidates.sort_unstable_by_key(|var| std::cmp::Reverse(rank.get(var).copied().unwrap_or(0)));
    let greedy = kept_greedily(cells, draft, &candidates, buffered, recompute);
    let bytes = |kept: &FxHashSet<VarId>| kept.iter().map(|var| width(cells.system, *var)).sum::<u64>();
    // Only the cut recomputes expensive operations.
    let cut = (recompute == Recompute::Elementwise).then(|| kept_by_cut(cells, draft, &candidates, buffered));
    *buffered = cut.filter(|cut| bytes(cut) < bytes(&greedy)).unwrap_or(greedy);
    let mut repeats = Repeats::default();
    let mut of_step: FxHashMap<usize, FxHashSet<VarId>> = FxHashMap::default();
    for var in candidates.into_iter().filter(|var| !buffered.contains(var)) {
        let again = recomputation(cells, draft, buffered, var, is_repeatable, usize::MAX)
            .expect("a dropped value stays computable");
        for step in readers(draft, var) {
            of_step.entry(step).or_default().extend(&again);
        }
    }
    for (step, vars) in of_step {
        // A step does not recompute its own results.
        let is_own = |var: &VarId| {
            draft.graph.number(*var, INNER).is_some_and(|node| draft.schedule.step_of[node] == step)
        };
        let mut vars: Vec<VarId> = vars.into_iter().filter(|var| !is_own(var)).collect();
        vars.sort_unstable_by_key(|var| rank.get(var).copied().unwrap_or(0));
        for operand in vars.iter().flat_map(|var| cells.deps(*var, INNER).cells) {
            let last = repeats.readers.entry(operand.0.0).or_default();
            *last = (*last).max(step);
        }
        repeats.of_step.insert(step, vars);
    }
    repeats
}

/// The buffers that remain if candidates are dropped one after the other.
fn kept_greedily(
    cells: &Cells<'_>,
    draft: &Draft,
    candidates: &[VarId],
    buffered: &FxHashSet<VarId>,
    recompute: Recompute,
) -> FxHashSet<VarId> {
    let mut kept = buffered.clone();
    for var in candidates {
        kept.remove(var);
        let is_allowed = |def: &Def| is_cheap(def, recompute);
        if recomputation(cells, draft, &kept, *var, is_allowed, MAX_OPERATIONS).is_none() {
            kept.insert(*var);
        }
    }
    kept
}

/// The buffers of a minimum cut.
fn kept_by_cut(
    cells: &Cells<'_>,
    draft: &Draft,
    candidates: &[VarId],
    buffered: &FxHashSet<VarId>,
) -> FxHashSet<VarId> {
    let mut kept = buffered.clone();
    for var in candidates {
        kept.remove(var);
    }
    let origin = |var: VarId| {
        if is_free(cells, draft, &kept, var) {
            Origin::Free
        } else if can_repeat(cells, draft, var, is_repeatable) {
            Origin::From(cells.deps(var, INNER).cells.into_iter().map(|((operand, _), _)| operand).collect())
        } else {
            Origin::Source
        }
    };
    let bytes = |var: VarId| {
        let node = draft.graph.number(var, INNER)?;
        let step = draft.schedule.steps[draft.schedule.step_of[node]];
        matches!(step, StepKind::Sweep(_)).then(|| width(cells.system, var))
    };
    let cut = cut(candidates, origin, bytes);
    kept.extend(cut);
    kept
}

/// The other steps that read the inner cells of a stream.
fn readers(draft: &Draft, var: VarId) -> Vec<usize> {
    let Some(node) = draft.graph.number(var, INNER) else { return Vec::new() };
    let step = |node: usize| draft.schedule.step_of[node];
    let mut steps: Vec<usize> = draft.graph.users[node]
        .iter()
        .map(|(user, _)| step(*user))
        .filter(|other| *other != step(node))
        .collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// Whether all steps that read a stream are sweeps that read it at the same cycle.
fn is_read_simply(draft: &Draft, var: VarId) -> bool {
    let Some(node) = draft.graph.number(var, INNER) else { return false };
    let step = |node: usize| draft.schedule.step_of[node];
    let is_sweep = |node: usize| matches!(draft.schedule.steps[step(node)], StepKind::Sweep(_));
    let mut crossing = draft.graph.users[node].iter().filter(|(user, _)| step(*user) != step(node));
    is_sweep(node) && crossing.all(|(user, pull)| *pull == Pull::Here && is_sweep(*user))
}

/// The streams to recompute for a value, starting from stored values; `None` if one of them needs an
/// operation that is not allowed.
fn recomputation(
    cells: &Cells<'_>,
    draft: &Draft,
    buffered: &FxHashSet<VarId>,
    var: VarId,
    is_allowed: impl Fn(&Def) -> bool,
    max_operations: usize,
) -> Option<FxHashSet<VarId>> {
    let mut again: FxHashSet<VarId> = FxHashSet::default();
    let mut todo = vec![var];
    while let Some(var) = todo.pop() {
        if !again.insert(var) {
            continue;
        }
        // A long chain of operations is not cheap.
        if again.len() > max_operations || !can_repeat(cells, draft, var, &is_allowed) {
            return None;
        }
        let operands = cells.deps(var, INNER).cells.into_iter().map(|((operand, _), _)| operand);
        todo.extend(operands.filter(|operand| !is_free(cells, draft, buffered, *operand)));
    }
    Some(again)
}

/// Whether the value of a stream can be read without recomputation.
fn is_free(cells: &Cells<'_>, draft: &Draft, buffered: &FxHashSet<VarId>, var: VarId) -> bool {
    !cells.is_inside[var.index()] || buffered.contains(&var) || draft.held.contains_key(&var)
}

/// Whether an allowed operation computes the inner cells of a stream.
fn can_repeat(cells: &Cells<'_>, draft: &Draft, var: VarId, is_allowed: impl Fn(&Def) -> bool) -> bool {
    is_allowed(cells.system.def(var))
        && cells.evaluation.is_open(var, INNER)
        && draft.graph.number(var, INNER).is_some()
}

/// A dropped value takes at most this many operations to recompute.
const MAX_OPERATIONS: usize = 24;

/// The position of each stream in an order in which operands at the same cycle come first.
fn ranks(draft: &Draft) -> FxHashMap<VarId, usize> {
    let graph = &draft.graph;
    let inner: Vec<usize> = (0..graph.nodes.len()).filter(|node| graph.nodes[*node].1 == INNER).collect();
    let order = order_within(&inner, |node| {
        let here =
            graph.edges[node].iter().filter(|(to, pull)| *pull == Pull::Here && graph.nodes[*to].1 == INNER);
        here.map(|(to, _)| *to).collect()
    });
    // Streams of a unit may depend on each other; they are not candidates.
    let order = order.unwrap_or(inner);
    order.into_iter().enumerate().map(|(rank, node)| (graph.nodes[node].0, rank)).collect()
}

/// Whether a cell may be recomputed at all: reductions, matrix products, convolutions and calls may not.
fn is_repeatable(def: &Def) -> bool {
    let Def::Apply(op, _) = def else { return matches!(def, Def::Copy(_) | Def::Choice { .. }) };
    match op.facts().family {
        Family::View | Family::Elementwise | Family::Choice | Family::Placement => true,
        Family::Reduction | Family::Product | Family::Convolution | Family::Call => false,
    }
}

/// Whether an operation is cheap: one pass over its elements.
fn is_cheap(def: &Def, recompute: Recompute) -> bool {
    let Def::Apply(op, _) = def else { return matches!(def, Def::Copy(_) | Def::Choice { .. }) };
    match op.facts().cost {
        Cost::Free | Cost::Arithmetic => true,
        Cost::Function => recompute == Recompute::Elementwise,
        Cost::Memory | Cost::Terms => false,
    }
}
