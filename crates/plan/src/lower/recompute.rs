//! Recomputation (section 7): a buffer whose values are cheap to compute again from what is kept anyway is not needed.
//!
//! There are two ways to find such buffers. The greedy one looks at them from the last to the first: one is dropped if few and cheap
//! operations lead to its value from other buffers, inputs, constants and held values. The other is a minimum [`cut`](super::cut) between
//! what computes a value and what reads it; it may keep streams that no other step reads, and goes along all operations but reductions,
//! products of matrices and convolutions. It is taken if it keeps fewer bytes. Either way, the steps that read what is not kept
//! compute it again, with all that is between.

use eddy_flow::VarId;
use eddy_tensor::Op;
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

/// Decides what is computed again; takes it out of `buffered`, which may get others in return.
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
    // A cut goes along operations that take time.
    let cut = (recompute == Recompute::Elementwise).then(|| kept_by_cut(cells, draft, &candidates, buffered));
    *buffered = cut.filter(|cut| bytes(cut) < bytes(&greedy)).unwrap_or(greedy);
    let mut repeats = Repeats::default();
    let mut of_step: FxHashMap<usize, FxHashSet<VarId>> = FxHashMap::default();
    for var in candidates.into_iter().filter(|var| !buffered.contains(var)) {
        let again = way_back(cells, draft, buffered, var, is_repeatable, usize::MAX)
            .expect("what is dropped stays computable");
        for step in readers(draft, var) {
            of_step.entry(step).or_default().extend(&again);
        }
    }
    for (step, vars) in of_step {
        // What the step computes itself is not computed again.
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

/// What is kept if candidates are dropped one after the other.
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
        if way_back(cells, draft, &kept, *var, is_allowed, MAX_OPERATIONS).is_none() {
            kept.insert(*var);
        }
    }
    kept
}

/// What is kept if that is as little as possible.
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

/// The steps that read the inner cells of a stream besides its own.
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

/// What has to be computed to get a value from what is kept, if operations that are allowed are enough.
fn way_back(
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
        // Long ways are not cheap.
        if again.len() > max_operations || !can_repeat(cells, draft, var, &is_allowed) {
            return None;
        }
        let operands = cells.deps(var, INNER).cells.into_iter().map(|((operand, _), _)| operand);
        todo.extend(operands.filter(|operand| !is_free(cells, draft, buffered, *operand)));
    }
    Some(again)
}

/// Whether the value of a stream can be read as it is.
fn is_free(cells: &Cells<'_>, draft: &Draft, buffered: &FxHashSet<VarId>, var: VarId) -> bool {
    !cells.is_inside[var.index()] || buffered.contains(&var) || draft.held.contains_key(&var)
}

/// Whether an operation that is allowed computes the inner cells of a stream.
fn can_repeat(cells: &Cells<'_>, draft: &Draft, var: VarId, is_allowed: impl Fn(&Def) -> bool) -> bool {
    is_allowed(cells.system.def(var))
        && cells.evaluation.is_open(var, INNER)
        && draft.graph.number(var, INNER).is_some()
}

/// A value is worth at most so many operations, from what is kept when it is dropped.
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
    // Streams of a unit may need each other; they are no candidates.
    let order = order.unwrap_or(inner);
    order.into_iter().enumerate().map(|(rank, node)| (graph.nodes[node].0, rank)).collect()
}

/// Whether a cell may be computed again at all: reductions, products of matrices and convolutions are done once.
fn is_repeatable(def: &Def) -> bool {
    let Def::Apply(op, _) = def else { return matches!(def, Def::Copy(_) | Def::Choice { .. }) };
    let op = op.applied();
    let is_reduction = matches!(
        op,
        Op::Sum(_)
            | Op::Mean(_)
            | Op::Max(_)
            | Op::MaxMask(_)
            | Op::Softmax
            | Op::Argmax
            | Op::SumTo
            | Op::Reduce(_)
            | Op::Fold(..)
    );
    !is_reduction && !matches!(op, Op::Matmul | Op::Conv2d | Op::Conv2dDx | Op::Conv2dDk)
}

/// Whether an operation counts as cheap: one pass over its elements.
fn is_cheap(def: &Def, recompute: Recompute) -> bool {
    let Def::Apply(op, _) = def else { return matches!(def, Def::Copy(_) | Def::Choice { .. }) };
    let arithmetic = matches!(
        op,
        Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Maximum
            | Op::Minimum
            | Op::IntDiv
            | Op::IntMod
            | Op::Neg
            | Op::Abs
            | Op::Relu
            | Op::ToNum
            | Op::ToInt
    );
    let truth = matches!(
        op,
        Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne | Op::And | Op::Or | Op::Not | Op::Where
    );
    let functions = matches!(
        op,
        Op::Div | Op::Pow | Op::Exp | Op::Log | Op::Sqrt | Op::Tanh | Op::Sigmoid | Op::Sin | Op::Cos
    );
    let views = matches!(
        op,
        Op::Copy | Op::Index(_) | Op::Reshape(_) | Op::StopGradient | Op::ZerosLike | Op::OnesLike
    );
    arithmetic || truth || views || functions && recompute == Recompute::Elementwise
}
