//! Sweeps: schedules components in few forward and backward loops over the window (section 5).
//!
//! A step takes every component whose dependencies were computed in earlier steps, or are computed in this
//! step in time: at the same cycle, or at an adjacent one that the loop has passed. Several strategies are
//! tried.

use eddy_flow::VarId;

use crate::cells::Pull;
use crate::graph::{Graph, NodeNo};
use crate::plan::Direction;
use crate::zones::INNER;

/// The direction of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Any sweep can compute the component.
    Neutral,
    /// Only a sweep of this direction can compute the component.
    Directed(Direction),
    /// The component is a separate step: the unit with this number.
    Unit(usize),
}

/// A set of cells that are computed together.
#[derive(Clone, Debug)]
pub struct Component {
    pub way: Way,
    pub nodes: Vec<NodeNo>,
    /// Its dependencies on other components, all of which come earlier in the list.
    pub needs: Vec<(usize, Pull)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    Sweep(Direction),
    /// The unit with this number.
    Unit(usize),
}

#[derive(Clone, Debug)]
pub struct Schedule {
    pub steps: Vec<StepKind>,
    /// The step of each node.
    pub step_of: Vec<usize>,
}

/// Facts about cells that a schedule must respect.
pub struct Frame<'a> {
    pub graph: &'a Graph,
    /// Whether a node only materialises a known or held value.
    pub is_materialised: &'a dyn Fn(NodeNo) -> bool,
    /// Whether a cell is a sampled delay that follows its operand through the window.
    pub is_tracked: &'a dyn Fn(NodeNo) -> bool,
    /// Whether a stream is an output, so that its cells are stored in any case.
    pub is_output: &'a dyn Fn(VarId) -> bool,
}

/// The best schedule found: fewest loops, then fewest buffers, then fewest backward sweeps, then fewest
/// steps.
///
/// Alternating directions is optimal for a given first direction if no values are held; two strategies do so.
/// A third one takes the direction with more cells. If all three need more than two loops, all sequences of
/// directions with at most as many loops are searched: with held values, two consecutive sweeps may have the
/// same direction.
pub fn schedule(frame: &Frame<'_>, components: &[Component]) -> Schedule {
    let strategies =
        [Strategy::Alternate(Direction::Forward), Strategy::Alternate(Direction::Backward), Strategy::Greedy];
    let mut schedules: Vec<Schedule> =
        strategies.into_iter().map(|strategy| place(frame.graph, components, strategy)).collect();
    let n_loops = schedules.iter().map(|schedule| cost(frame, schedule).0).min().unwrap_or(0);
    // Two loops are almost always optimal.
    if n_loops > 2 {
        schedules.extend(search(frame, components, n_loops));
    }
    let settled = schedules.into_iter().map(|mut schedule| {
        settle(frame, components, &mut schedule);
        schedule
    });
    settled.min_by_key(|schedule| cost(frame, schedule)).expect("there are strategies")
}

/// The search tries at most this many steps.
const MAX_STEPS: usize = 1000;

/// An incomplete schedule.
#[derive(Clone)]
struct Partial {
    step_of: Vec<usize>,
    steps: Vec<StepKind>,
    n_loops: usize,
}

/// All schedules with at most `n_loops` loops, within the limit of the search; each step takes everything it
/// can.
fn search(frame: &Frame<'_>, components: &[Component], n_loops: usize) -> Vec<Schedule> {
    let is_loop = |component: &usize| components[*component].nodes.iter().any(|node| is_busy(frame, *node));
    let mut found = Vec::new();
    let mut todo = vec![Partial { step_of: vec![OPEN; components.len()], steps: Vec::new(), n_loops: 0 }];
    let mut n_steps = 0;
    while let Some(mut partial) = todo.pop() {
        take_units(components, &mut partial.step_of, &mut partial.steps);
        let open: Vec<usize> =
            (0..components.len()).filter(|component| partial.step_of[*component] == OPEN).collect();
        if open.is_empty() {
            found.push(finished(frame.graph, components, &partial.step_of, partial.steps));
            continue;
        }
        n_steps += 1;
        if n_steps > MAX_STEPS {
            break;
        }
        for direction in [Direction::Backward, Direction::Forward] {
            let taken = take(components, &open, &partial.step_of, direction);
            let mut next = partial.clone();
            next.n_loops += usize::from(taken.iter().any(is_loop));
            if taken.is_empty() || next.n_loops > n_loops {
                continue;
            }
            for component in taken {
                next.step_of[component] = next.steps.len();
            }
            next.steps.push(StepKind::Sweep(direction));
            todo.push(next);
        }
    }
    found
}

/// Whether a cell makes its step a loop.
fn is_busy(frame: &Frame<'_>, node: NodeNo) -> bool {
    let is_inner = frame.graph.nodes[node].1 == INNER && !(frame.is_materialised)(node);
    is_inner || (frame.is_tracked)(node)
}

fn cost(frame: &Frame<'_>, schedule: &Schedule) -> (usize, usize, usize, usize) {
    let is_loop = loops(frame, schedule);
    let sweeps = schedule.steps.iter().zip(is_loop).filter(|(_, is_loop)| *is_loop);
    let is_back = |(step, _): &(&StepKind, bool)| **step == StepKind::Sweep(Direction::Backward);
    let n_back = sweeps.clone().filter(is_back).count();
    let n_loops = sweeps.filter(|(step, _)| matches!(step, StepKind::Sweep(_))).count();
    (n_loops, n_buffers(frame.graph, schedule), n_back, schedule.steps.len())
}

/// Whether each step has code for inner cycles.
pub fn loops(frame: &Frame<'_>, schedule: &Schedule) -> Vec<bool> {
    let mut is_loop = vec![false; schedule.steps.len()];
    for (node, step) in schedule.step_of.iter().enumerate() {
        is_loop[*step] |= is_busy(frame, node);
    }
    is_loop
}

/// The number of inner cells that other steps read.
pub fn n_buffers(graph: &Graph, schedule: &Schedule) -> usize {
    let is_buffered = |node: &NodeNo| {
        graph.nodes[*node].1 == INNER
            && graph.users[*node].iter().any(|(user, _)| schedule.step_of[*user] != schedule.step_of[*node])
    };
    (0..graph.nodes.len()).filter(is_buffered).count()
}

#[derive(Clone, Copy)]
enum Strategy {
    /// Alternates directions, starting with this one.
    Alternate(Direction),
    /// Takes the direction with more cells.
    Greedy,
}

fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Forward => Direction::Backward,
        Direction::Backward => Direction::Forward,
    }
}

/// Whether a sweep passes a dependency before it is needed.
fn in_time(pull: Pull, direction: Direction) -> bool {
    match pull {
        Pull::Here => true,
        Pull::Past => direction == Direction::Forward,
        Pull::Future => direction == Direction::Backward,
    }
}

const OPEN: usize = usize::MAX;

fn place(graph: &Graph, components: &[Component], strategy: Strategy) -> Schedule {
    let mut step_of = vec![OPEN; components.len()];
    let mut steps = Vec::new();
    let mut next = match strategy {
        Strategy::Alternate(direction) => direction,
        Strategy::Greedy => Direction::Forward,
    };
    loop {
        take_units(components, &mut step_of, &mut steps);
        let open: Vec<usize> =
            (0..components.len()).filter(|component| step_of[*component] == OPEN).collect();
        if open.is_empty() {
            return finished(graph, components, &step_of, steps);
        }
        let mut taken = take(components, &open, &step_of, next);
        let other = take(components, &open, &step_of, opposite(next));
        let n_cells = |taken: &[usize]| -> usize { taken.iter().map(|c| components[*c].nodes.len()).sum() };
        let is_better = match strategy {
            Strategy::Alternate(_) => taken.is_empty(),
            Strategy::Greedy if next == Direction::Forward => n_cells(&other) > n_cells(&taken),
            Strategy::Greedy => n_cells(&other) >= n_cells(&taken),
        };
        if is_better {
            (next, taken) = (opposite(next), other);
        }
        assert!(!taken.is_empty(), "components are in order, so a sweep can take the first open one");
        for component in taken {
            step_of[component] = steps.len();
        }
        steps.push(StepKind::Sweep(next));
        next = opposite(next);
    }
}

/// Schedules units that are ready, each as a separate step.
fn take_units(components: &[Component], step_of: &mut [usize], steps: &mut Vec<StepKind>) {
    loop {
        let ready = components.iter().enumerate().find_map(|(index, component)| match component.way {
            Way::Unit(unit) if step_of[index] == OPEN => {
                let is_ready = component.needs.iter().all(|(need, _)| step_of[*need] != OPEN);
                is_ready.then_some((index, unit))
            }
            _ => None,
        });
        let Some((index, unit)) = ready else { return };
        step_of[index] = steps.len();
        steps.push(StepKind::Unit(unit));
    }
}

fn finished(graph: &Graph, components: &[Component], step_of: &[usize], steps: Vec<StepKind>) -> Schedule {
    let mut of_node = vec![0; graph.nodes.len()];
    for (component, step) in components.iter().zip(step_of) {
        for node in &component.nodes {
            of_node[*node] = *step;
        }
    }
    Schedule { steps, step_of: of_node }
}

/// The components that a sweep in this direction can take now.
fn take(components: &[Component], open: &[usize], step_of: &[usize], direction: Direction) -> Vec<usize> {
    let mut is_taken = vec![false; components.len()];
    let mut taken = Vec::new();
    for component in open {
        let is_fitting = match components[*component].way {
            Way::Neutral => true,
            Way::Directed(own) => own == direction,
            Way::Unit(_) => false,
        };
        let is_met = |(need, pull): &(usize, Pull)| {
            step_of[*need] != OPEN || (is_taken[*need] && in_time(*pull, direction))
        };
        if is_fitting && components[*component].needs.iter().all(is_met) {
            is_taken[*component] = true;
            taken.push(*component);
        }
    }
    taken
}

/// Moves neutral cells to cheaper steps.
fn settle(frame: &Frame<'_>, components: &[Component], schedule: &mut Schedule) {
    // Readers come before their operands, so that both can move.
    let neutral: Vec<NodeNo> = components
        .iter()
        .rev()
        .filter(|component| component.way == Way::Neutral)
        .map(|component| component.nodes[0])
        .collect();
    cohere(frame, &neutral, schedule);
    sink(frame, &neutral, schedule);
    cohere(frame, &neutral, schedule);
    without_empty_steps(schedule);
}

/// Whether a cell can be computed in this later step instead.
fn may_move(graph: &Graph, schedule: &Schedule, node: NodeNo, step: usize) -> bool {
    let StepKind::Sweep(direction) = schedule.steps[step] else { return false };
    let is_late_enough = |(user, pull): &(NodeNo, Pull)| {
        let of_user = schedule.step_of[*user];
        of_user > step || (of_user == step && in_time(*pull, direction))
    };
    step > schedule.step_of[node] && graph.users[node].iter().all(is_late_enough)
}

/// Cohesion: a cell at an end of the window moves to the sweep of the inner cells of its stream.
fn cohere(frame: &Frame<'_>, neutral: &[NodeNo], schedule: &mut Schedule) {
    for node in neutral {
        let (var, zone) = frame.graph.nodes[*node];
        if zone == INNER || (frame.is_tracked)(*node) {
            continue;
        }
        if let Some(inner) = frame.graph.number(var, INNER) {
            let step = schedule.step_of[inner];
            if may_move(frame.graph, schedule, *node, step) {
                schedule.step_of[*node] = step;
            }
        }
    }
}

/// Sinking: an inner cell whose operands are in buffers anyway moves to the only sweep that reads it.
fn sink(frame: &Frame<'_>, neutral: &[NodeNo], schedule: &mut Schedule) {
    let graph = frame.graph;
    for node in neutral {
        let (var, zone) = graph.nodes[*node];
        if zone != INNER || (frame.is_output)(var) || (frame.is_tracked)(*node) {
            continue;
        }
        let own = schedule.step_of[*node];
        let mut steps = graph.users[*node].iter().map(|(user, _)| schedule.step_of[*user]);
        let Some(step) = steps.next() else { continue };
        if step <= own || !steps.all(|other| other == step) {
            continue;
        }
        let is_buffered = |(operand, _): &(NodeNo, Pull)| {
            let home = schedule.step_of[*operand];
            graph.nodes[*operand].1 != INNER
                || graph.users[*operand]
                    .iter()
                    .any(|(user, _)| user != node && schedule.step_of[*user] != home)
        };
        if graph.edges[*node].iter().all(is_buffered) && may_move(graph, schedule, *node, step) {
            schedule.step_of[*node] = step;
        }
    }
}

fn without_empty_steps(schedule: &mut Schedule) {
    let mut is_used = vec![false; schedule.steps.len()];
    for step in &schedule.step_of {
        is_used[*step] = true;
    }
    let mut number = 0;
    let numbers: Vec<usize> = is_used
        .iter()
        .map(|is_used| {
            number += usize::from(*is_used);
            number.wrapping_sub(1)
        })
        .collect();
    let mut is_used = is_used.into_iter();
    schedule.steps.retain(|_| is_used.next().unwrap_or(false));
    for step in &mut schedule.step_of {
        *step = numbers[*step];
    }
}
