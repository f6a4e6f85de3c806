//! Heaviest paths, and cycles of weight 0 or more.
//!
//! With `n` streams, the weight `w·(n+1) + 1` of an edge makes exactly the cycles of weight 0 or more
//! positive, because a simple cycle has at most `n` edges. On a positive cycle the heaviest path grows
//! without bound. The search keeps, for each stream, the edge that made it heaviest, and looks for a cycle
//! among these edges.

use std::collections::BTreeSet;

use super::graph::{Edge, Graph};
use crate::flow::VarId;

/// A cycle of edges that satisfy `is_in` whose weight is 0 or more, if any.
pub(super) fn nonnegative_cycle(graph: &Graph, is_in: impl Fn(&Edge) -> bool) -> Option<Vec<VarId>> {
    let mut relaxation = for_cycles(graph, is_in);
    while relaxation.round(|_| false) {
        if let Some(cycle) = relaxation.cycles().pop() {
            return Some(cycle);
        }
    }
    None
}

/// The components with a cycle of edges that satisfy `is_in` whose weight is 0 or more. `component` has the
/// component of each stream.
pub(super) fn nonnegative_components(
    graph: &Graph,
    component: &[usize],
    is_in: impl Fn(&Edge) -> bool,
) -> BTreeSet<usize> {
    let stays = |edge: &Edge| is_in(edge) && component[edge.from.index()] == component[edge.to.index()];
    let mut relaxation = for_cycles(graph, stays);
    let mut found = BTreeSet::new();
    // A component that is found is skipped from then on, because its paths would grow without bound.
    while relaxation.round(|var| found.contains(&component[var.index()])) {
        found.extend(relaxation.cycles().iter().map(|cycle| component[cycle[0].index()]));
    }
    found
}

/// The weight of the heaviest path from these streams, in a graph without cycles of weight 0 or more.
pub(super) fn heaviest_paths(graph: &Graph, from: &[VarId]) -> i64 {
    let mut relaxation = Relaxation::new(graph, |edge| edge.weight, |_| true);
    relaxation.heaviest = vec![UNREACHED; graph.n_vars()];
    for var in from {
        relaxation.heaviest[var.index()] = 0;
    }
    while relaxation.round(|_| false) {}
    relaxation.heaviest.into_iter().max().unwrap_or(0)
}

const UNREACHED: i64 = i64::MIN;

struct Relaxation<'a, W, I> {
    graph: &'a Graph,
    weight: W,
    is_in: I,
    /// The weight of the heaviest known path to each stream.
    heaviest: Vec<i64>,
    /// The previous stream on that path.
    before: Vec<Option<VarId>>,
    /// The streams in an order in which most edges go forwards.
    order: Vec<VarId>,
}

/// A relaxation that weights edges so that cycles of weight 0 or more are positive; paths may start anywhere.
fn for_cycles<I: Fn(&Edge) -> bool>(graph: &Graph, is_in: I) -> Relaxation<'_, impl Fn(&Edge) -> i64, I> {
    let scale = i64::try_from(graph.n_vars()).expect("elaboration stops before 2^32 streams") + 1;
    let mut relaxation = Relaxation::new(graph, move |edge: &Edge| edge.weight * scale + 1, is_in);
    relaxation.heaviest = vec![0; graph.n_vars()];
    relaxation
}

impl<'a, W: Fn(&Edge) -> i64, I: Fn(&Edge) -> bool> Relaxation<'a, W, I> {
    fn new(graph: &'a Graph, weight: W, is_in: I) -> Self {
        let before = vec![None; graph.n_vars()];
        Relaxation { graph, weight, is_in, heaviest: Vec::new(), before, order: reverse_postorder(graph) }
    }

    /// Follows each edge once, except those from streams that are done; returns whether a path became
    /// heavier.
    fn round(&mut self, is_done: impl Fn(VarId) -> bool) -> bool {
        let mut is_heavier = false;
        for var in &self.order {
            let here = self.heaviest[var.index()];
            if here == UNREACHED || is_done(*var) {
                continue;
            }
            for edge in self.graph.edges(*var).iter().filter(|edge| (self.is_in)(edge)) {
                let weight = here + (self.weight)(edge);
                if weight > self.heaviest[edge.to.index()] {
                    self.heaviest[edge.to.index()] = weight;
                    self.before[edge.to.index()] = Some(*var);
                    is_heavier = true;
                }
            }
        }
        is_heavier
    }

    /// The cycles among the edges of heaviest paths.
    fn cycles(&self) -> Vec<Vec<VarId>> {
        let mut cycles = Vec::new();
        let mut seen_in: Vec<usize> = vec![usize::MAX; self.before.len()];
        for start in 0..self.before.len() {
            let mut at = VarId::new(start);
            while seen_in[at.index()] == usize::MAX {
                seen_in[at.index()] = start;
                match self.before[at.index()] {
                    Some(before) => at = before,
                    None => break,
                }
            }
            if self.before[at.index()].is_some() && seen_in[at.index()] == start {
                let step = |var: &VarId| self.before[var.index()].filter(|before| *before != at);
                let mut cycle: Vec<VarId> = std::iter::successors(Some(at), step).collect();
                cycle.reverse();
                cycles.push(cycle);
            }
        }
        cycles
    }
}

/// Reverse postorder: edges go forwards unless they close a cycle.
fn reverse_postorder(graph: &Graph) -> Vec<VarId> {
    let mut seen = vec![false; graph.n_vars()];
    let mut order = Vec::with_capacity(graph.n_vars());
    for start in (0..graph.n_vars()).map(VarId::new) {
        if std::mem::replace(&mut seen[start.index()], true) {
            continue;
        }
        let mut path = vec![(start, 0)];
        while let Some((var, next)) = path.last_mut() {
            match graph.edges(*var).get(*next) {
                Some(edge) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[edge.to.index()], true) {
                        path.push((edge.to, 0));
                    }
                }
                None => {
                    order.push(*var);
                    path.pop();
                }
            }
        }
    }
    order.reverse();
    order
}
