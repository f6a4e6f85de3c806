//! Where cotangents can differ from zero: a boolean for each, computed symbolically before anything is
//! printed (section 9.5).
//!
//! | backward equation | support, from the support b of the cotangent d |
//! | --- | --- |
//! | operation on d | b |
//! | `0 fby back d` | `post b` |
//! | `0 fby d` | `false fby b` |
//! | `merge c d 0` | `merge c b false` |
//! | `d when c` | `b when c` |
//! | instance of `diffp_M` | the support that it returns |
//! | several uses | `b1 or b2 ..` |
//!
//! A stream on a cycle has the support of all streams on that cycle. A cycle with a step that moves supports
//! would need a support that contains itself, moved. No such support exists, and the program has only a dense
//! form.

use eddy_autodiff::{Transposed, Use};
use eddy_flow::components::components;
use rustc_hash::FxHashMap;

use super::local::{Action, Local, StreamId};
use crate::flow::{Kind, Polarity};

/// The index of a support among those of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SupportId(usize);

/// The definition of a support. The parts of an `or` are sorted by the order of this type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Support {
    /// `bp` itself.
    Bp,
    /// Returned by the instance of this step, for this input.
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

/// The error that a support would have to contain itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotClosed;

/// The supports of one node.
pub(super) struct Supports {
    table: Vec<Support>,
    numbers: FxHashMap<Support, SupportId>,
    of: FxHashMap<StreamId, SupportId>,
}

/// For each input of an instance, whether the instance returns the support of its cotangent.
pub(super) type Returns = Vec<bool>;

impl Supports {
    pub const GIVEN: SupportId = SupportId(0);

    /// The supports of all active streams; the support of an output includes `bp`. `returns` returns,
    /// for a step that is a call, which inputs' supports the instance returns.
    pub fn new(
        local: &Local,
        transposed: &Transposed,
        outputs: &[StreamId],
        returns: &dyn Fn(usize) -> Returns,
    ) -> Result<Supports, NotClosed> {
        let mut supports =
            Supports { table: Vec::new(), numbers: FxHashMap::default(), of: FxHashMap::default() };
        supports.intern(Support::Bp);
        let uses = uses(local, transposed);
        let successors = |stream: usize| {
            let uses = uses.get(&StreamId::new(stream)).into_iter().flatten();
            uses.flat_map(|(_, results)| results.iter().map(|result| result.index())).collect::<Vec<_>>()
        };
        let component = components(local.streams.len(), successors);
        let mut members: Vec<Vec<StreamId>> = vec![Vec::new(); local.streams.len()];
        let mut in_order: Vec<StreamId> = transposed.cotangents.keys().copied().collect();
        in_order.sort_unstable();
        for stream in in_order {
            members[component[stream.index()]].push(stream);
        }
        // Successors have smaller component numbers, so the parts of a support come before it.
        for members in members.into_iter().filter(|members| !members.is_empty()) {
            let mut parts = Vec::new();
            for stream in &members {
                if outputs.contains(stream) {
                    parts.push(Supports::GIVEN);
                }
                for (usage, results) in uses.get(stream).into_iter().flatten() {
                    let shift = shift(local, transposed, usage, returns);
                    let inside = |result: &&StreamId| component[result.index()] == component[stream.index()];
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

    /// The definition of a support.
    pub fn get(&self, support: SupportId) -> &Support {
        &self.table[support.0]
    }

    /// The support of a use's contribution, given that of the results of its step.
    pub fn contribution(
        &mut self,
        local: &Local,
        transposed: &Transposed,
        usage: &Use,
        of_results: SupportId,
        returns: &dyn Fn(usize) -> Returns,
    ) -> SupportId {
        self.shifted(shift(local, transposed, usage, returns), of_results)
    }

    /// The disjunction.
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

/// How a support moves with a contribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shift {
    None,
    Returned { step: usize, input: usize },
    Earlier,
    Later,
    Sampled(StreamId, Polarity),
    Padded(StreamId, Polarity),
}

/// How the support of a use's contribution differs from that of the step's results. At most one backward
/// equation moves the cotangent in time or to another clock: the equation that defines the contribution.
fn shift(local: &Local, transposed: &Transposed, usage: &Use, returns: &dyn Fn(usize) -> Returns) -> Shift {
    let step = &local.steps[usage.step];
    if let Action::Call(_) = step.action {
        let is_returned = returns(usage.step).get(usage.position) == Some(&true);
        let returned = Shift::Returned { step: usage.step, input: usage.position };
        return if is_returned { returned } else { Shift::None };
    }
    let equations = transposed.equations_of(usage).iter();
    let definition = equations.rev().find(|equation| equation.out == usage.value);
    let cotangent = transposed.cotangents[&step.results[0]];
    let polarity = |yes: StreamId| if yes == cotangent { Polarity::On } else { Polarity::OnNot };
    match definition.map(|equation| &equation.kind) {
        Some(Kind::FbyBack { .. }) => Shift::Earlier,
        Some(Kind::Fby { .. }) => Shift::Later,
        Some(Kind::When { condition, polarity, .. }) => Shift::Sampled(*condition, *polarity),
        Some(Kind::Merge { condition, yes, .. }) => Shift::Padded(*condition, polarity(*yes)),
        None | Some(Kind::Apply(..) | Kind::Const(_) | Kind::Post(_) | Kind::Param(_)) => Shift::None,
    }
}

/// The uses of each active stream, with the active results of their steps.
type Uses<'a> = FxHashMap<StreamId, Vec<(&'a Use, Vec<StreamId>)>>;

fn uses<'a>(local: &Local, transposed: &'a Transposed) -> Uses<'a> {
    let mut uses: Uses<'a> = FxHashMap::default();
    for usage in &transposed.uses {
        let results = local.steps[usage.step].results.iter().copied();
        let active = results.filter(|result| transposed.cotangents.contains_key(result)).collect();
        uses.entry(usage.operand).or_default().push((usage, active));
    }
    uses
}
