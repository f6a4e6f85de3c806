//! Finds streams that no later input can resolve, although each of their cycles has a guard.
//!
//! Two cases are searched, only among streams that an output can read.
//!
//! 1. A stream is ⊥ at some of its activations *in every run* ([`facts`](super::facts)): its guard never
//!    breaks the cycle there. Each `Never` has another `Never` as its reason, and following the reasons leads
//!    to a cycle, which is reported. If an output is ⊥ at all of its activations, the program is rejected.
//!    Otherwise, and in derivatives, the program may still be useful, so there is a warning.
//! 2. A stream is ⊥ *in some runs*: it is on a cycle without delays whose guards can be open together
//!    ([`conditions`](super::conditions)). At a cycle of the run where they are, the stream needs its own
//!    value of that cycle. A cycle through `post` is not reported, because a later cycle may break it.

use std::collections::BTreeSet;

use eddy_syntax::Diagnostic;
use eddy_tensor::Op;

use super::conditions::Conditions;
use super::errors::{self, Gap};
use super::facts::{Fact, Facts, LATER};
use super::graph::{Edge, Graph};
use crate::clocks::{Clock, ClockId, Clocks};
use crate::flow::components::components;
use crate::flow::{Flow, Kind, Polarity, Purpose, Role, VarId};

/// The largest product of combinations and edges in one search; beyond it only a shortest cycle is tried.
const MAX_WORK: usize = 1 << 20;

/// Warnings about these outputs, or an error if one of them never has a value.
pub(super) fn deadlocks(
    flow: &Flow,
    clocks: &Clocks,
    graph: &Graph,
    outputs: &[VarId],
) -> Result<Vec<Diagnostic>, Box<Diagnostic>> {
    let (facts, definitions) = (Facts::new(flow), flow.definitions());
    let search = Search { flow, clocks, facts: &facts, definitions: &definitions };
    let labels = flow.labels().with_points();
    // A derivative may read values that the node itself does not need, so it may stay unknown while the rest
    // is useful.
    let is_derivative = |purpose: Purpose| purpose.role == Role::Derivative;
    let is_derived = flow.vars.iter().any(|var| var.purpose.is_some_and(is_derivative));
    for output in outputs.iter().copied().filter(|output| !search.is_absent(clocks.of(*output))) {
        if !is_derived
            && facts.row(output).iter().all(|fact| *fact == Fact::Never)
            && let Some(cycle) = search.cycle_of_reasons((output, LATER))
        {
            return Err(Box::new(errors::never_has_value(flow, &labels, graph, output, &cycle)));
        }
    }
    let reachable = search.reachable(outputs);
    let mut warnings = Vec::new();
    let mut is_reported = vec![false; flow.vars.len()];
    for mut cycle in search.cycles(&reachable) {
        let first = errors::first_named(flow, &cycle);
        let place = cycle.iter().position(|var| *var == first).expect("`first_named` returns one of them");
        cycle.rotate_left(place);
        let gap = search.gap(cycle[0]);
        warnings.push(errors::gap(flow, &labels, graph, &cycle, gap));
        for var in cycle {
            is_reported[var.index()] = true;
        }
    }
    for cycle in search.open_cycles(graph, &reachable, &is_reported) {
        warnings.push(errors::possible_deadlock(flow, &labels, &cycle));
    }
    Ok(warnings)
}

/// A stream at one activation, or at all later ones.
type Place = (VarId, usize);

struct Search<'a> {
    flow: &'a Flow,
    clocks: &'a Clocks,
    facts: &'a Facts,
    definitions: &'a [Option<usize>],
}

impl Search<'_> {
    fn kind(&self, var: VarId) -> Option<&Kind> {
        self.definitions[var.index()].map(|number| &self.flow.equations[number].kind)
    }

    fn is_never(&self, (var, index): Place) -> bool {
        self.facts.row(var)[index] == Fact::Never
    }

    /// Whether streams on this clock are absent in every run.
    fn is_absent(&self, clock: ClockId) -> bool {
        let mut at = clock;
        while let Clock::On { of, condition, polarity } = self.clocks.clock(at) {
            if self.facts.is_always(condition, polarity == Polarity::OnNot) {
                return true;
            }
            at = of;
        }
        false
    }

    /// For each stream, whether one of these reads it in some run, directly or indirectly.
    fn reachable(&self, from: &[VarId]) -> Vec<bool> {
        let mut reachable = vec![false; self.flow.vars.len()];
        let mut todo = from.to_vec();
        while let Some(var) = todo.pop() {
            if std::mem::replace(&mut reachable[var.index()], true) {
                continue;
            }
            let (condition, yes, no) = match self.kind(var) {
                None => continue,
                Some(Kind::Merge { condition, yes, no }) => (*condition, *yes, *no),
                Some(Kind::Apply(Op::If, operands)) => (operands[0], operands[1], operands[2]),
                Some(kind) => {
                    todo.extend(kind.operands());
                    continue;
                }
            };
            todo.push(condition);
            let may_be = |truth: bool| self.facts.row(condition).iter().any(|fact| fact.may_be(truth));
            todo.extend(may_be(true).then_some(yes));
            todo.extend(may_be(false).then_some(no));
        }
        reachable
    }

    /// The operand that is ⊥ and so makes this stream ⊥. `None` if the stream is merely absent.
    fn reason(&self, (var, index): Place) -> Option<Place> {
        let never = |places: &[Place]| places.iter().copied().find(|place| self.is_never(*place));
        let next = (index + 1).min(LATER);
        match self.kind(var)? {
            Kind::Const(_) => None,
            Kind::Apply(Op::If, operands) => {
                let (condition, yes, no) = (operands[0], operands[1], operands[2]);
                match self.facts.row(condition)[index] {
                    Fact::Never => Some((condition, index)),
                    Fact::Truth(truth) => never(&[(if truth { yes } else { no }, index)]),
                    _ => never(&[(yes, index), (no, index)]),
                }
            }
            Kind::Apply(_, operands) => operands.iter().find_map(|operand| never(&[(*operand, index)])),
            Kind::Param(operand) => never(&[(*operand, index)]),
            Kind::When { value, condition, polarity } => {
                let truth = *polarity == Polarity::On;
                if self.facts.is_always(*condition, truth) {
                    return never(&[(*value, index)]);
                }
                let is_chosen = |index: &usize| self.facts.row(*condition)[*index].may_be(truth);
                let chosen = (0..=LATER).rev().filter(is_chosen).find_map(|index| never(&[(*value, index)]));
                chosen.or_else(|| (0..=LATER).rev().find_map(|index| never(&[(*condition, index)])))
            }
            Kind::Merge { condition, yes, no } => {
                let fact = self.facts.row(*condition)[index];
                let branch = |value: VarId, truth: bool| {
                    let at = if self.facts.is_always(*condition, truth) { index } else { LATER };
                    fact.may_be(truth).then(|| never(&[(value, at)])).flatten()
                };
                never(&[(*condition, index)]).or_else(|| branch(*yes, true)).or_else(|| branch(*no, false))
            }
            Kind::Fby { init, next } => match index {
                0 => never(&[(*init, 0)]),
                LATER => never(&[(*next, LATER)]),
                _ => never(&[(*next, index - 1)]),
            },
            Kind::Post(operand) => never(&[(*operand, next)]),
            Kind::FbyBack { next: operand, .. } => never(&[(*operand, next)]),
        }
    }

    /// The cycle that following the reasons from this place leads to.
    fn cycle_of_reasons(&self, place: Place) -> Option<Vec<VarId>> {
        let mut path: Vec<Place> = vec![place];
        let mut position: rustc_hash::FxHashMap<Place, usize> = [(place, 0)].into_iter().collect();
        loop {
            let next = self.reason(*path.last().expect("the path is not empty"))?;
            if let Some(start) = position.get(&next) {
                return Some(streams(&path[*start..]));
            }
            position.insert(next, path.len());
            path.push(next);
        }
    }

    /// The cycles of reasons among these streams; each place has one reason, so each cycle is found once.
    fn cycles(&self, reachable: &[bool]) -> Vec<Vec<VarId>> {
        let n_places = LATER + 1;
        let mut seen_in = vec![u32::MAX; reachable.len() * n_places];
        let number = |(var, index): Place| var.index() * n_places + index;
        let (mut cycles, mut reported) = (Vec::new(), BTreeSet::new());
        for start in 0..reachable.len() * n_places {
            let place = (VarId::new(start / n_places), start % n_places);
            if !reachable[place.0.index()] || !self.is_never(place) {
                continue;
            }
            let mark = u32::try_from(start).expect("elaboration stops before 2^32 streams");
            let mut at = Some(place);
            while let Some(place) = at.filter(|place| seen_in[number(*place)] == u32::MAX) {
                seen_in[number(place)] = mark;
                at = self.reason(place);
            }
            let Some(first) = at.filter(|place| seen_in[number(*place)] == mark) else { continue };
            let around = |place: &Place| self.reason(*place).filter(|next| *next != first);
            let cycle = streams(&std::iter::successors(Some(first), around).collect::<Vec<_>>());
            let is_absent = cycle.iter().any(|var| self.is_absent(self.clocks.of(*var)));
            let mut members = cycle.clone();
            members.sort_unstable();
            if !is_absent && reported.insert(members) {
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// The activations at which a stream is ⊥.
    fn gap(&self, var: VarId) -> Gap {
        let row = self.facts.row(var);
        match row.iter().rposition(|fact| *fact != Fact::Never) {
            None => Gap::Always,
            Some(last) if last < LATER => Gap::After(last + 1),
            Some(_) if row[1..].iter().all(|fact| *fact != Fact::Never) => Gap::First,
            Some(_) => Gap::Some,
        }
    }

    /// The cycles without delays whose guards can be open together, at most one per component.
    fn open_cycles(&self, graph: &Graph, reachable: &[bool], is_reported: &[bool]) -> Vec<Vec<Edge>> {
        let is_in = |edge: &Edge| edge.weight == 0 && reachable[edge.from.index()] && self.can_open(edge);
        let component = components(graph.n_vars(), |var| {
            let edges = graph.edges(VarId::new(var)).iter().filter(|edge| is_in(edge));
            edges.map(|edge| edge.to.index()).collect()
        });
        let mut members: std::collections::BTreeMap<usize, Vec<VarId>> = std::collections::BTreeMap::new();
        for var in (0..graph.n_vars()).map(VarId::new).filter(|var| reachable[var.index()]) {
            let home = component[var.index()];
            let stays = |edge: &Edge| is_in(edge) && component[edge.to.index()] == home;
            if graph.edges(var).iter().any(stays) {
                members.entry(home).or_default().push(var);
            }
        }
        let members = members.into_values().filter(|vars| !vars.iter().any(|var| is_reported[var.index()]));
        members.filter_map(|vars| self.open_cycle(&graph.within(&vars, is_in), &vars)).collect()
    }

    fn can_open(&self, edge: &Edge) -> bool {
        match edge.guard {
            Some(super::graph::Guard::Condition(condition, truth)) => {
                self.facts.row(condition).iter().any(|fact| fact.may_be(truth))
            }
            _ => true,
        }
    }

    /// `graph` has the edges between these streams, renumbered.
    fn open_cycle(&self, graph: &Graph, vars: &[VarId]) -> Option<Vec<Edge>> {
        let original =
            |edge: &Edge| Edge { from: vars[edge.from.index()], to: vars[edge.to.index()], ..*edge };
        let conditions = || Conditions::new(self.flow, self.clocks, self.facts, self.definitions);
        let shortest = graph.cycle_of_edges(|_| true)?;
        let mut of_shortest = conditions();
        let guards: Vec<_> = shortest.iter().map(|edge| of_shortest.read(&original(edge))).collect();
        let are_open = of_shortest.find(usize::MAX, |combination| {
            guards.iter().all(|guard| combination.opens(*guard)).then_some(())
        });
        if are_open.is_some() {
            return Some(shortest.iter().map(original).collect());
        }
        let mut of_all = conditions();
        let mut guards = rustc_hash::FxHashMap::default();
        let edges = (0..graph.n_vars()).flat_map(|var| graph.edges(VarId::new(var)));
        let mut n_edges = 0;
        for edge in edges {
            n_edges += 1;
            guards.insert((edge.from, edge.to, guard_key(edge)), of_all.read(&original(edge)));
        }
        of_all.find(MAX_WORK / n_edges.max(1), |combination| {
            let is_open = |edge: &Edge| combination.opens(guards[&(edge.from, edge.to, guard_key(edge))]);
            Some(graph.cycle_of_edges(is_open)?.iter().map(original).collect())
        })
    }
}

/// Distinguishes the edges between two streams.
fn guard_key(edge: &Edge) -> Option<(VarId, bool)> {
    match edge.guard {
        Some(super::graph::Guard::Condition(condition, truth)) => Some((condition, truth)),
        _ => None,
    }
}

/// The streams of some places, without duplicates.
fn streams(places: &[Place]) -> Vec<VarId> {
    let mut seen = BTreeSet::new();
    places.iter().map(|(var, _)| *var).filter(|var| seen.insert(*var)).collect()
}
