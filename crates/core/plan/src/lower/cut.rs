//! The cheapest set of streams to store so that everything else can be recomputed (section 7): a minimum cut.
//!
//! Values flow from operations that are not recomputed (reductions, matrix products, delays) through the
//! others to the readers in later steps. Any set of streams that separates the two suffices: everything after
//! it can be recomputed from it. The capacity of a stream is its number of bytes; the minimum cut is where
//! the maximum flow saturates. Inputs, held values and streams that are stored anyway are not sources: they
//! cost nothing.

use std::collections::VecDeque;

use eddy_flow::VarId;
use rustc_hash::{FxHashMap, FxHashSet};

pub enum Origin {
    /// The stream can be read without being stored.
    Free,
    /// The stream, or something computed from it, must be stored.
    Source,
    /// The stream can be computed from these.
    From(Vec<VarId>),
}

/// The cheapest set of streams from which all of `wanted` can be computed; among several, the one nearest to
/// `wanted`. `width` is the cost of storing a stream, `None` if it cannot be stored.
pub fn cut(
    wanted: &[VarId],
    origin: impl Fn(VarId) -> Origin,
    width: impl Fn(VarId) -> Option<u64>,
) -> FxHashSet<VarId> {
    let mut net = Net::default();
    let (source, sink) = (net.node(), net.node());
    let mut numbers: FxHashMap<VarId, usize> = FxHashMap::default();
    let mut todo: Vec<VarId> = wanted.to_vec();
    let mut origins: Vec<(VarId, Origin)> = Vec::new();
    while let Some(var) = todo.pop() {
        if numbers.contains_key(&var) {
            continue;
        }
        let found = origin(var);
        if matches!(found, Origin::Free) {
            continue;
        }
        // Each stream has two nodes, joined by an edge with its width as capacity: cutting that edge stores
        // the stream.
        let number = net.node();
        net.node();
        net.edge(number, number + 1, width(var).unwrap_or(UNBOUNDED));
        numbers.insert(var, number);
        if let Origin::From(operands) = &found {
            todo.extend(operands);
        }
        origins.push((var, found));
    }
    for (var, origin) in origins {
        let number = numbers[&var];
        match origin {
            Origin::Free => {}
            Origin::Source => net.edge(source, number, UNBOUNDED),
            Origin::From(operands) => {
                for operand in operands.iter().filter_map(|operand| numbers.get(operand)) {
                    net.edge(operand + 1, number, UNBOUNDED);
                }
            }
        }
    }
    for var in wanted.iter().filter_map(|var| numbers.get(var)) {
        net.edge(var + 1, sink, UNBOUNDED);
    }
    net.fill(source, sink);
    let reaches = net.reaching(sink);
    let is_cut = |(_, number): &(&VarId, &usize)| reaches[**number + 1] && !reaches[**number];
    numbers.iter().filter(is_cut).map(|(var, _)| *var).collect()
}

/// More than the sum of all widths.
const UNBOUNDED: u64 = 1 << 60;

/// A flow network: edges with their residual capacity. The reverse of each edge follows it.
#[derive(Default)]
struct Net {
    edges: Vec<Vec<usize>>,
    to: Vec<usize>,
    residual: Vec<u64>,
}

impl Net {
    fn node(&mut self) -> usize {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize, residual: u64) {
        self.edges[from].push(self.to.len());
        self.edges[to].push(self.to.len() + 1);
        self.to.extend([to, from]);
        self.residual.extend([residual, 0]);
    }

    /// Finds a maximum flow along shortest augmenting paths (Edmonds-Karp).
    fn fill(&mut self, source: usize, sink: usize) {
        while let Some(path) = self.augmenting_path(source, sink) {
            let amount = path.iter().map(|edge| self.residual[*edge]).min().unwrap_or(0);
            for edge in path {
                self.residual[edge] -= amount;
                self.residual[edge ^ 1] += amount;
            }
        }
    }

    /// The edges of a shortest augmenting path.
    fn augmenting_path(&self, source: usize, sink: usize) -> Option<Vec<usize>> {
        let mut by: Vec<Option<usize>> = vec![None; self.edges.len()];
        let mut todo = VecDeque::from([source]);
        while let Some(node) = todo.pop_front() {
            if node == sink {
                let mut path = Vec::new();
                let mut at = sink;
                while let Some(edge) = by[at] {
                    path.push(edge);
                    at = self.to[edge ^ 1];
                }
                return Some(path);
            }
            for edge in &self.edges[node] {
                let to = self.to[*edge];
                if self.residual[*edge] > 0 && to != source && by[to].is_none() {
                    by[to] = Some(*edge);
                    todo.push_back(to);
                }
            }
        }
        None
    }

    /// The nodes from which the sink is reachable in the residual network.
    fn reaching(&self, sink: usize) -> Vec<bool> {
        let mut reaches = vec![false; self.edges.len()];
        reaches[sink] = true;
        let mut todo = vec![sink];
        while let Some(node) = todo.pop() {
            for edge in &self.edges[node] {
                let from = self.to[*edge];
                if self.residual[edge ^ 1] > 0 && !reaches[from] {
                    reaches[from] = true;
                    todo.push(from);
                }
            }
        }
        reaches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Streams by number, each with its operands (`None` for a source) and its width.
    fn found(streams: &[(Option<&[usize]>, u64)], wanted: &[usize]) -> Vec<usize> {
        let var = |number: &usize| VarId::new(*number);
        let origin = |of: VarId| match streams[of.index()].0 {
            None => Origin::Source,
            Some(operands) => Origin::From(operands.iter().map(var).collect()),
        };
        let wanted: Vec<VarId> = wanted.iter().map(var).collect();
        let cut = cut(&wanted, origin, |var| Some(streams[var.index()].1));
        let mut cut: Vec<usize> = cut.into_iter().map(VarId::index).collect();
        cut.sort_unstable();
        cut
    }

    #[test]
    fn one_narrow_stream_is_kept_instead_of_two_computed_from_it() {
        assert_eq!(found(&[(None, 8), (Some(&[0]), 8), (Some(&[0]), 8)], &[1, 2]), [0]);
    }

    #[test]
    fn two_narrow_streams_are_kept_instead_of_a_wide_one() {
        assert_eq!(found(&[(None, 64), (Some(&[0]), 8), (Some(&[0]), 8)], &[1, 2]), [1, 2]);
    }

    #[test]
    fn of_two_equally_narrow_sets_the_one_nearest_to_the_wanted_streams_is_kept() {
        assert_eq!(found(&[(None, 8), (Some(&[0]), 8)], &[1]), [1]);
    }

    #[test]
    fn a_stream_without_operands_is_not_kept() {
        assert_eq!(found(&[(Some(&[]), 8)], &[0]), [0_usize; 0]);
    }

    #[test]
    fn no_other_set_is_narrower() {
        let mut state = 1_u32;
        let mut below = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % n
        };
        for _ in 0..200 {
            let n = 8;
            let mut operands: Vec<Option<Vec<usize>>> = Vec::new();
            let mut widths = Vec::new();
            for number in 0..n {
                let all: Vec<usize> = (0..number).filter(|_| below(3) == 0).collect();
                operands.push(if all.is_empty() { None } else { Some(all) });
                widths.push(u64::from(below(4)) + 1);
            }
            let wanted: Vec<usize> = (0..n).filter(|_| below(2) == 0).collect();
            let streams: Vec<(Option<&[usize]>, u64)> =
                operands.iter().map(Option::as_deref).zip(widths.iter().copied()).collect();
            let is_enough = |kept: &dyn Fn(usize) -> bool| {
                let mut there = vec![false; n];
                for number in 0..n {
                    let made = operands[number].as_ref().is_some_and(|of| of.iter().all(|x| there[*x]));
                    there[number] = kept(number) || made;
                }
                wanted.iter().all(|number| there[*number])
            };
            let width = |kept: &dyn Fn(usize) -> bool| -> u64 {
                (0..n).filter(|number| kept(*number)).map(|number| widths[number]).sum()
            };
            let cut = found(&streams, &wanted);
            assert!(is_enough(&|number| cut.contains(&number)));
            let sets = 0_usize..1 << n;
            let least = sets.filter(|set| is_enough(&|number| set >> number & 1 == 1));
            let least = least.map(|set| width(&|number| set >> number & 1 == 1)).min();
            assert_eq!(Some(width(&|number| cut.contains(&number))), least);
        }
    }
}
