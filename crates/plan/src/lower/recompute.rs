//! Recomputation (section 7): a buffer whose values are cheap to compute again from what is kept anyway is not needed.
//!
//! Buffers are looked at from the last to the first. One is dropped if cheap operations lead to its value from other buffers, inputs,
//! constants and held values; the steps that read it then compute it again, with all that is between.

use eddy_flow::VarId;
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

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

/// Decides what is computed again; takes it out of `buffered`.
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
    let mut dropped: Vec<VarId> = Vec::new();
    for var in candidates {
        buffered.remove(&var);
        if way_back(cells, draft, buffered, var, recompute, MAX_OPERATIONS).is_some() {
            dropped.push(var);
        } else {
            buffered.insert(var);
        }
    }
    let mut repeats = Repeats::default();
    let mut of_step: FxHashMap<usize, FxHashSet<VarId>> = FxHashMap::default();
    for var in dropped {
        let again = way_back(cells, draft, buffered, var, recompute, usize::MAX)
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

/// What has to be computed to get a value from what is kept, if cheap operations are enough.
fn way_back(
    cells: &Cells<'_>,
    draft: &Draft,
    buffered: &FxHashSet<VarId>,
    var: VarId,
    recompute: Recompute,
    max_operations: usize,
) -> Option<FxHashSet<VarId>> {
    let mut again: FxHashSet<VarId> = FxHashSet::default();
    let mut todo = vec![var];
    while let Some(var) = todo.pop() {
        if !again.insert(var) {
            continue;
        }
        // Long ways are not cheap.
        if again.len() > max_operations
            || !is_cheap(cells.system.def(var), recompute)
            || !cells.evaluation.is_open(var, INNER)
            || draft.graph.number(var, INNER).is_none()
        {
            return None;
        }
        for ((operand, _), _) in cells.deps(var, INNER).cells {
            let is_kept = !cells.is_inside[operand.index()]
                || buffered.contains(&operand)
                || draft.held.contains_key(&operand);
            if !is_kept {
                todo.push(operand);
            }
        }
    }
    Some(again)
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
