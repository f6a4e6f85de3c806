//! Retiming (section 3): gives each equation a lag so that no dependency points to the future.
//!
//! `post` reads one activation ahead, so its readers must wait for one activation; the lag of a stream is the
//! number of activations that it waits. In `y = x + post x` the sum is known one activation late, hence lag
//! 1, which is also the reported look-ahead. Each dependency of `o` on `x` requires `lag(o) - lag(x) >= d`,
//! with `d` = 0 for the same activation, -1 for the past and 1 for the future; if both sides are equal, `x`
//! is computed before `o` in the loop body. Such lags exist unless there is a dependency cycle whose `d` sum
//! to at least 0.
//!
//! A `fby` on a sampled clock is a register that is written when its operand is present, so it has the lag of
//! its operand. A `post` on a sampled clock waits for the next activation of that clock. No lag suffices,
//! because any number of cycles may pass until then.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use eddy_flow::VarId;
use eddy_flow::components::components;

use crate::system::{ClockNo, Need, System};

/// Lags that satisfy all constraints.
#[derive(Clone, Debug)]
pub struct Lags {
    /// The streams in the order of the loop body, including inputs, with their lags.
    pub order: Vec<(VarId, usize)>,
}

/// Why there are no lags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsolvable {
    /// These streams wait for each other; each depends on the next one.
    Cycle(Vec<VarId>),
    /// This stream looks ahead on a sampled clock.
    Sampled(VarId),
}

/// A dependency between two streams of the loop; `to` is the position of the operand among the members.
#[derive(Clone, Copy)]
struct Edge {
    to: usize,
    /// `d`
    ahead: isize,
    /// Whether the operand must be computed first if both are computed in the same iteration.
    is_ordered: bool,
}

/// Finds the least lags of streams that run in one loop over the activations of a clock. Operands from
/// outside are available at their activation.
pub fn retime(system: &System<'_>, members: &[VarId], clock: ClockNo) -> Result<Lags, Unsolvable> {
    let (edges, floors) = dependencies(system, members, clock)?;
    let component = components(members.len(), |vertex| edges[vertex].iter().map(|edge| edge.to).collect());
    let mut of_component = vec![Vec::new(); component.iter().max().map_or(0, |last| last + 1)];
    for (vertex, component) in component.iter().enumerate() {
        of_component[*component].push(vertex);
    }
    let mut lags = floors;
    // A component comes after those that it depends on.
    let mut causes = vec![None; members.len()];
    for vertices in &of_component {
        relax(&edges, &component, vertices, &mut lags, &mut causes)
            .map_err(|cycle| Unsolvable::Cycle(cycle.into_iter().map(|vertex| members[vertex]).collect()))?;
    }
    let order = order(&edges, &lags)
        .map_err(|cycle| Unsolvable::Cycle(cycle.into_iter().map(|vertex| members[vertex]).collect()))?;
    let lag = |vertex: usize| usize::try_from(lags[vertex]).expect("lags start at zero and rise");
    Ok(Lags { order: order.into_iter().map(|vertex| (members[vertex], lag(vertex))).collect() })
}

fn dependencies(
    system: &System<'_>,
    members: &[VarId],
    clock: ClockNo,
) -> Result<(Vec<Vec<Edge>>, Vec<isize>), Unsolvable> {
    const OUTSIDE: usize = usize::MAX;
    let mut position = vec![OUTSIDE; system.defs.len()];
    for (index, member) in members.iter().enumerate() {
        position[member.index()] = index;
    }
    let mut edges: Vec<Vec<Edge>> = vec![Vec::new(); members.len()];
    let mut floors = vec![0; members.len()];
    for (index, member) in members.iter().enumerate() {
        for (operand, need) in system.needs(*member) {
            let to = position[operand.index()];
            let is_sampled = system.clock(*member) != clock;
            if to == OUTSIDE {
                // Even a constant has a next value only if there is a next activation.
                match need {
                    Need::Future if is_sampled => return Err(Unsolvable::Sampled(*member)),
                    Need::Future => floors[index] = 1,
                    _ => {}
                }
                continue;
            }
            let edge = match need {
                Need::Now | Need::Clock | Need::Init => Edge { to, ahead: 0, is_ordered: true },
                Need::Past if is_sampled => {
                    edges[to].push(Edge { to: index, ahead: 0, is_ordered: false });
                    Edge { to, ahead: 0, is_ordered: false }
                }
                Need::Past => Edge { to, ahead: -1, is_ordered: true },
                Need::Future if is_sampled => return Err(Unsolvable::Sampled(*member)),
                Need::Future => Edge { to, ahead: 1, is_ordered: true },
            };
            edges[index].push(edge);
        }
    }
    Ok((edges, floors))
}

/// Raises the lags of a component until all constraints hold; returns a cycle if they would rise forever.
fn relax(
    edges: &[Vec<Edge>],
    component: &[usize],
    vertices: &[usize],
    lags: &mut [isize],
    causes: &mut [Option<usize>],
) -> Result<(), Vec<usize>> {
    if let [vertex] = vertices {
        if edges[*vertex].iter().any(|edge| edge.to == *vertex && edge.ahead > 0) {
            return Err(vec![*vertex]);
        }
        lags[*vertex] = least(edges, *vertex, lags).0;
        return Ok(());
    }
    loop {
        let mut has_changed = false;
        for vertex in vertices {
            let (lag, edge) = least(edges, *vertex, lags);
            if lag > lags[*vertex] {
                lags[*vertex] = lag;
                causes[*vertex] = edge.filter(|to| component[*to] == component[*vertex]);
                has_changed = true;
            }
        }
        if !has_changed {
            return Ok(());
        }
        if let Some(cycle) = cycle_of(vertices, |vertex| causes[vertex]) {
            return Err(cycle);
        }
    }
}

/// The least lag that the lags of the operands allow, and the operand that determines it.
fn least(edges: &[Vec<Edge>], vertex: usize, lags: &[isize]) -> (isize, Option<usize>) {
    let mut found = (lags[vertex], None);
    for edge in &edges[vertex] {
        let lag = lags[edge.to] + edge.ahead;
        if lag > found.0 {
            found = (lag, Some(edge.to));
        }
    }
    found
}

/// A cycle of a graph in which each vertex has at most one successor.
fn cycle_of(vertices: &[usize], next: impl Fn(usize) -> Option<usize>) -> Option<Vec<usize>> {
    let mut seen_from = rustc_hash::FxHashMap::default();
    for start in vertices {
        let mut at = *start;
        loop {
            match seen_from.insert(at, *start) {
                Some(before) if before == *start => {
                    let mut cycle = vec![at];
                    let mut step = next(at).expect("a vertex on a cycle has a successor");
                    while step != at {
                        cycle.push(step);
                        step = next(step).expect("a vertex on a cycle has a successor");
                    }
                    return Some(cycle);
                }
                Some(_) => break,
                None => {}
            }
            match next(at) {
                Some(step) => at = step,
                None => break,
            }
        }
    }
    None
}

/// The order of the loop body: operands computed in the same iteration come first; otherwise the order of the
/// program.
fn order(edges: &[Vec<Edge>], lags: &[isize]) -> Result<Vec<usize>, Vec<usize>> {
    let is_tight = |vertex: usize, edge: &Edge| edge.is_ordered && lags[edge.to] + edge.ahead == lags[vertex];
    let mut n_before = vec![0_usize; edges.len()];
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for (vertex, edges) in edges.iter().enumerate() {
        for edge in edges.iter().filter(|edge| is_tight(vertex, edge)) {
            n_before[vertex] += 1;
            after[edge.to].push(vertex);
        }
    }
    let is_free = |vertex: &usize| n_before[*vertex] == 0;
    let mut ready: BinaryHeap<Reverse<usize>> = (0..edges.len()).filter(is_free).map(Reverse).collect();
    let mut order = Vec::with_capacity(edges.len());
    while let Some(Reverse(vertex)) = ready.pop() {
        order.push(vertex);
        for next in &after[vertex] {
            n_before[*next] -= 1;
            if n_before[*next] == 0 {
                ready.push(Reverse(*next));
            }
        }
    }
    if order.len() == edges.len() {
        return Ok(order);
    }
    // Each remaining vertex depends on another remaining one.
    let left: Vec<usize> = (0..edges.len()).filter(|vertex| n_before[*vertex] > 0).collect();
    let next = |vertex: usize| {
        let mut waits = edges[vertex].iter();
        waits.find(|edge| is_tight(vertex, edge) && n_before[edge.to] > 0).map(|edge| edge.to)
    };
    Err(cycle_of(&left, next).expect("vertices without an order have a cycle"))
}
