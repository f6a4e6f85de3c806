//! The graph of dependencies between streams.

use eddy_tensor::Op;
use rustc_hash::FxHashMap;

use crate::flow::components::components;
use crate::flow::{Flow, Kind, VarId};

/// A condition that can disable an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// The condition of an `if` or a `merge`, and the value of it that selects this branch.
    Condition(VarId, bool),
    /// The initial value of `fby` is read only at the first activation.
    First,
    /// The initial value of `fby back` is read only at the last activation.
    Last,
    /// `fby back` reads the future only before the end of the trace.
    EndOfTrace,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub from: VarId,
    pub to: VarId,
    /// How far into the future: -1, 0 or 1.
    pub weight: i64,
    pub guard: Option<Guard>,
}

/// The dependencies of each stream. `edge.from` depends on `edge.to`.
pub(super) struct Graph {
    edges: Vec<Edge>,
    /// The index of each stream's first edge, followed by the number of edges.
    starts: Vec<usize>,
}

impl Graph {
    pub fn new(flow: &Flow) -> Self {
        let definitions = flow.definitions();
        let (mut edges, mut starts) = (Vec::new(), vec![0]);
        for var in flow.var_ids() {
            if let Some(number) = definitions[var.index()] {
                add_edges(var, &flow.equations[number].kind, &mut edges);
            }
            starts.push(edges.len());
        }
        Graph { edges, starts }
    }

    pub fn n_vars(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn edges(&self, var: VarId) -> &[Edge] {
        &self.edges[self.starts[var.index()]..self.starts[var.index() + 1]]
    }

    /// The streams on which any of these depends, including themselves.
    pub fn reachable(&self, from: &[VarId]) -> Vec<bool> {
        let mut reachable = vec![false; self.n_vars()];
        let mut todo = from.to_vec();
        while let Some(var) = todo.pop() {
            if !std::mem::replace(&mut reachable[var.index()], true) {
                todo.extend(self.edges(var).iter().map(|edge| edge.to));
            }
        }
        reachable
    }

    /// The subgraph of the edges between these streams that satisfy `is_in`. The streams are renumbered in
    /// order; guards keep the original numbers.
    pub fn within(&self, vars: &[VarId], is_in: impl Fn(&Edge) -> bool) -> Graph {
        let numbers: FxHashMap<VarId, VarId> =
            vars.iter().enumerate().map(|(number, var)| (*var, VarId::new(number))).collect();
        let (mut edges, mut starts) = (Vec::new(), vec![0]);
        for var in vars {
            for edge in self.edges(*var).iter().filter(|edge| is_in(edge)) {
                if let Some(to) = numbers.get(&edge.to) {
                    edges.push(Edge { from: numbers[var], to: *to, ..*edge });
                }
            }
            starts.push(edges.len());
        }
        Graph { edges, starts }
    }

    /// A shortest cycle of edges that satisfy `is_in`, through the first stream that is on such a cycle.
    pub fn cycle_within(&self, is_in: impl Fn(&Edge) -> bool) -> Option<Vec<VarId>> {
        Some(self.cycle_of_edges(is_in)?.iter().map(|edge| edge.from).collect())
    }

    /// As [`cycle_within`](Self::cycle_within), but returns the edges; each ends where the next edge starts.
    pub fn cycle_of_edges(&self, is_in: impl Fn(&Edge) -> bool) -> Option<Vec<Edge>> {
        let component = components(self.n_vars(), |var| {
            let edges = self.edges(VarId::new(var)).iter();
            edges.filter(|edge| is_in(edge)).map(|edge| edge.to.index()).collect()
        });
        let stays = |edge: &&Edge| is_in(edge) && component[edge.from.index()] == component[edge.to.index()];
        let start = (0..self.n_vars())
            .map(VarId::new)
            .find(|var| self.edges(*var).iter().any(|edge| stays(&edge)))?;
        // Breadth-first search from the first stream on a cycle back to itself.
        let mut incoming: Vec<Option<Edge>> = vec![None; self.n_vars()];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(var) = queue.pop_front() {
            for edge in self.edges(var).iter().filter(stays) {
                if edge.to == start {
                    let before = |edge: &Edge| incoming[edge.from.index()];
                    let mut cycle: Vec<Edge> = std::iter::successors(Some(*edge), before).collect();
                    cycle.reverse();
                    return Some(cycle);
                }
                if incoming[edge.to.index()].is_none() {
                    incoming[edge.to.index()] = Some(*edge);
                    queue.push_back(edge.to);
                }
            }
        }
        unreachable!("an edge that stays in its component lies on a cycle")
    }
}

fn add_edges(from: VarId, kind: &Kind, edges: &mut Vec<Edge>) {
    let mut add = |to: VarId, weight: i64, guard: Option<Guard>| edges.push(Edge { from, to, weight, guard });
    match kind {
        Kind::Const(_) => {}
        Kind::Apply(Op::If, operands) => {
            add(operands[0], 0, None);
            add(operands[1], 0, Some(Guard::Condition(operands[0], true)));
            add(operands[2], 0, Some(Guard::Condition(operands[0], false)));
        }
        Kind::Apply(_, operands) => operands.iter().for_each(|operand| add(*operand, 0, None)),
        Kind::When { value, condition, .. } => {
            add(*value, 0, None);
            add(*condition, 0, None);
        }
        Kind::Merge { condition, yes, no } => {
            add(*condition, 0, None);
            add(*yes, 0, Some(Guard::Condition(*condition, true)));
            add(*no, 0, Some(Guard::Condition(*condition, false)));
        }
        Kind::Fby { init, next } => {
            add(*init, 0, Some(Guard::First));
            add(*next, -1, None);
        }
        Kind::FbyBack { init, next } => {
            add(*init, 0, Some(Guard::Last));
            add(*next, 1, Some(Guard::EndOfTrace));
        }
        Kind::Post(operand) => add(*operand, 1, None),
        Kind::Param(operand) => add(*operand, 0, None),
    }
}
