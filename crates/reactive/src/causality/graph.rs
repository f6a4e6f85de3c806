//! The graph of dependencies between streams.

use eddy_tensor::Op;

use crate::flow::components::components;
use crate::flow::{Flow, Kind, VarId};

/// What can break an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// The condition of an `if` or a `merge`.
    Condition(VarId),
    /// The initial value of a delay is read only at the first or the last activation.
    FirstOrLast,
    /// `fby back` reads the future only while there is some.
    EndOfTrace,
}

/// `from` depends on `to`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub from: VarId,
    pub to: VarId,
    /// How far into the future: -1, 0 or 1.
    pub weight: i64,
    pub guard: Option<Guard>,
}

/// The edges of each stream.
pub(super) struct Graph {
    edges: Vec<Edge>,
    /// Where the edges of each stream start, and one end more.
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

    /// The edges that leave a stream.
    pub fn edges(&self, var: VarId) -> &[Edge] {
        &self.edges[self.starts[var.index()]..self.starts[var.index() + 1]]
    }

    /// The streams that some of these depend on, themselves included.
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

    /// A shortest cycle of such edges, if there is one.
    pub fn cycle_within(&self, is_in: impl Fn(&Edge) -> bool) -> Option<Vec<VarId>> {
        let component = components(self.n_vars(), |var| {
            let edges = self.edges(VarId::new(var)).iter();
            edges.filter(|edge| is_in(edge)).map(|edge| edge.to.index()).collect()
        });
        let stays = |edge: &&Edge| is_in(edge) && component[edge.from.index()] == component[edge.to.index()];
        let start = (0..self.n_vars())
            .map(VarId::new)
            .find(|var| self.edges(*var).iter().any(|edge| stays(&edge)))?;
        // Breadth first, from the first stream on a cycle back to itself.
        let mut came_from: Vec<Option<VarId>> = vec![None; self.n_vars()];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(var) = queue.pop_front() {
            for edge in self.edges(var).iter().filter(stays) {
                if edge.to == start {
                    let mut cycle = vec![var];
                    while let Some(before) = came_from[cycle[cycle.len() - 1].index()] {
                        cycle.push(before);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if came_from[edge.to.index()].is_none() {
                    came_from[edge.to.index()] = Some(var);
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
            add(operands[1], 0, Some(Guard::Condition(operands[0])));
            add(operands[2], 0, Some(Guard::Condition(operands[0])));
        }
        Kind::Apply(_, operands) => operands.iter().for_each(|operand| add(*operand, 0, None)),
        Kind::When { value, condition, .. } => {
            add(*value, 0, None);
            add(*condition, 0, None);
        }
        Kind::Merge { condition, yes, no } => {
            add(*condition, 0, None);
            add(*yes, 0, Some(Guard::Condition(*condition)));
            add(*no, 0, Some(Guard::Condition(*condition)));
        }
        Kind::Fby { init, next } => {
            add(*init, 0, Some(Guard::FirstOrLast));
            add(*next, -1, None);
        }
        Kind::FbyBack { init, next } => {
            add(*init, 0, Some(Guard::FirstOrLast));
            add(*next, 1, Some(Guard::EndOfTrace));
        }
        Kind::Post(operand) => add(*operand, 1, None),
        Kind::Param(operand) => add(*operand, 0, None),
    }
}
