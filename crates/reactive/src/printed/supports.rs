//! Where cotangents can be different from zero: a boolean beside each, computed symbolically before anything is written
//! (section 9.5).
//!
//! | step | operand | support, from the support b of the result |
//! | --- | --- | --- |
//! | application, initial value, instance | each | b |
//! | `i fby x` | x | `post b` |
//! | `post x`, `i fby back x` | x | `false fby b` |
//! | `x when c` | x | `merge c b false` |
//! | `merge c x y` | x | `b when c` |
//! | instance of `diffp_M` | x | what that returns |
//! | several uses | | `b1 or b2 ..` |
//!
//! A stream on a cycle has the support of all streams on that cycle. A cycle with a step that moves supports would need a
//! support that contains itself, moved; there is none, and the program has only a dense form.

use eddy_flow::components::components;
use rustc_hash::{FxHashMap, FxHashSet};

use super::activity::{Summary, contributing};
use super::local::{Action, Local, StreamId};
use crate::tree::{Direction, Polarity};

/// A support, by its number among those of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SupportId(usize);

/// What a support is made of. The order is that of the parts of an `or`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Support {
    /// `bp` itself.
    Given,
    /// Returned by the instance that a step is, for this input.
    Returned { step: usize, input: usize },
    /// `post b`.
    Earlier(SupportId),
    /// `false fby b`.
    Later(SupportId),
    /// `b when c`, `b when not c`.
    Sampled(StreamId, std::cmp::Reverse<Polarity>, SupportId),
    /// `merge c b false`, `merge c false b`.
    Padded(StreamId, std::cmp::Reverse<Polarity>, SupportId),
    /// `b1 or b2 ..`.
    Either(Vec<SupportId>),
}

/// Some support would have to contain itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotClosed;

/// The supports of one node.
pub(super) struct Supports {
    table: Vec<Support>,
    numbers: FxHashMap<Support, SupportId>,
    of: FxHashMap<StreamId, SupportId>,
}

/// For each input of an instance whether it returns the support of its cotangent.
pub(super) type Returns = Vec<bool>;

impl Supports {
    pub const GIVEN: SupportId = SupportId(0);

    /// The supports of all active streams; `bp` stands at the outputs. `returns` says what the instance of a step returns.
    pub fn new(
        local: &Local,
        active: &FxHashSet<StreamId>,
        outputs: &[StreamId],
        callees: &[Option<Summary>],
        returns: &dyn Fn(usize) -> Returns,
    ) -> Result<Supports, NotClosed> {
        let mut supports =
            Supports { table: Vec::new(), numbers: FxHashMap::default(), of: FxHashMap::default() };
        supports.intern(Support::Given);
        let uses = uses(local, active, callees);
        let successors = |stream: usize| {
            let uses = uses.get(&StreamId(stream)).into_iter().flatten();
            uses.flat_map(|(_, _, results)| results.iter().map(|result| result.0)).collect::<Vec<_>>()
        };
        let component = components(local.streams.len(), successors);
        let mut members: Vec<Vec<StreamId>> = vec![Vec::new(); local.streams.len()];
        let mut in_order: Vec<StreamId> = active.iter().copied().collect();
        in_order.sort_unstable();
        for stream in in_order {
            members[component[stream.0]].push(stream);
        }
        // Successors have smaller numbers, so what a support is made of is there before it.
        for members in members.into_iter().filter(|members| !members.is_empty()) {
            let mut parts = Vec::new();
            for stream in &members {
                if outputs.contains(stream) {
                    parts.push(Supports::GIVEN);
                }
                for (step, position, results) in uses.get(stream).into_iter().flatten() {
                    let shift = shift(local, *step, *position, returns);
                    let inside = |result: &&StreamId| component[result.0] == component[stream.0];
                    if results.iter().any(|result| inside(&result)) && shift != Shift::None {
                        return Err(NotClosed);
                    }
                    let outside: Vec<SupportId> = results
                        .iter()
                        .filter(|result| !inside(result))
                        .map(|result| supports.of[result])
                        .collect();
                    if !outside.is_empty() {
                        let whole = supports.either(&outside);
                        let moved = supports.shifted(shift, whole);
                        parts.push(moved);
                    }
                }
            }
            let whole = supports.either(&parts);
            supports.of.extend(members.into_iter().map(|stream| (stream, whole)));
        }
        Ok(supports)
    }

    /// The support of the cotangent of a stream.
    pub fn of(&self, stream: StreamId) -> SupportId {
        self.of[&stream]
    }

    /// What a support is made of.
    pub fn get(&self, support: SupportId) -> &Support {
        &self.table[support.0]
    }

    /// The support of the cotangent that a step gives to an operand, where its results have this one.
    pub fn contribution(
        &mut self,
        local: &Local,
        step: usize,
        position: usize,
        of_results: SupportId,
        returns: &dyn Fn(usize) -> Returns,
    ) -> SupportId {
        self.shifted(shift(local, step, position, returns), of_results)
    }

    /// One of these, at least.
    pub fn either(&mut self, parts: &[SupportId]) -> SupportId {
        let mut flat: Vec<SupportId> = Vec::new();
        for part in parts {
            match self.get(*part) {
                Support::Either(inner) => flat.extend(inner),
                _ => flat.push(*part),
            }
        }
        flat.sort_by(|left, right| self.get(*left).cmp(self.get(*right)));
        flat.dedup();
        match flat.as_slice() {
            [only] => *only,
            _ => self.intern(Support::Either(flat)),
        }
    }

    fn shifted(&mut self, shift: Shift, support: SupportId) -> SupportId {
        let moved = match shift {
            Shift::None => return support,
            Shift::Returned { step, input } => Support::Returned { step, input },
            Shift::Earlier => Support::Earlier(support),
            Shift::Later => Support::Later(support),
            Shift::Sampled(condition, polarity) => {
                Support::Sampled(condition, std::cmp::Reverse(polarity), support)
            }
            Shift::Padded(condition, polarity) => {
                Support::Padded(condition, std::cmp::Reverse(polarity), support)
            }
        };
        self.intern(moved)
    }

    fn intern(&mut self, support: Support) -> SupportId {
        let next = SupportId(self.table.len());
        let found = *self.numbers.entry(support.clone()).or_insert(next);
        if found == next {
            self.table.push(support);
        }
        found
    }
}

/// How a step moves a support on the way to an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shift {
    None,
    Returned { step: usize, input: usize },
    Earlier,
    Later,
    Sampled(StreamId, Polarity),
    Padded(StreamId, Polarity),
}

fn shift(local: &Local, number: usize, position: usize, returns: &dyn Fn(usize) -> Returns) -> Shift {
    let step = &local.steps[number];
    match &step.action {
        Action::Apply(_) | Action::Param => Shift::None,
        Action::When(polarity) => Shift::Padded(step.operands[1], *polarity),
        Action::Merge if position == 1 => Shift::Sampled(step.operands[0], Polarity::On),
        Action::Merge => Shift::Sampled(step.operands[0], Polarity::OnNot),
        Action::Fby(Direction::Forward) if position == 1 => Shift::Earlier,
        Action::Fby(Direction::Back) if position == 1 => Shift::Later,
        Action::Fby(_) => Shift::None,
        Action::Post => Shift::Later,
        Action::Call(_) if returns(number).get(position) == Some(&true) => {
            Shift::Returned { step: number, input: position }
        }
        Action::Call(_) => Shift::None,
    }
}

/// For each active stream its active uses: step, position, and the active results of the step.
type Uses = FxHashMap<StreamId, Vec<(usize, usize, Vec<StreamId>)>>;

fn uses(local: &Local, active: &FxHashSet<StreamId>, callees: &[Option<Summary>]) -> Uses {
    let mut uses: Uses = FxHashMap::default();
    for (number, step) in local.steps.iter().enumerate() {
        let results: Vec<StreamId> =
            step.results.iter().copied().filter(|result| active.contains(result)).collect();
        for (position, operand) in contributing(local, step, callees, active) {
            uses.entry(operand).or_default().push((number, position, results.clone()));
        }
    }
    uses
}
