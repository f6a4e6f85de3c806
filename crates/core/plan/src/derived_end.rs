//! The derived end of windows (section 8): how to compute at each cycle which streams need a later one, and
//! whether a window can ever end.

use eddy_flow::{Polarity, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lower::{Site, lagged};
use crate::plan::{Bit, DerivedEnd, Lagged, Needing, Pending, Place, Read, Region, Required};
use crate::region::{Context, Draft, order_within};
use crate::retime::Lags;
use crate::system::{ClockNo, Def, Need, System};
use crate::units::UnitRun;

impl DerivedEnd {
    /// The inputs and results of the prelude that the scan reads.
    pub(crate) fn reads(&self, system: &System<'_>) -> Vec<VarId> {
        let computed: FxHashSet<VarId> = self.scan.body.iter().map(|late| late.instruction.var).collect();
        let reads = self.scan.body.iter().flat_map(|late| Region::reads(&late.instruction));
        let reads = reads.chain(self.scan.registers.iter().map(|register| &register.next));
        let rings = reads.filter_map(|read| match read {
            Read::Here(var, Place::Ring(_)) => Some(*var),
            _ => None,
        });
        let mut found: Vec<VarId> = rings.collect();
        for needing in &self.bits {
            found.extend(needing.clock.iter().map(|(condition, _)| *condition));
            if let Bit::Choice { condition, .. } = &needing.bit {
                found.push(*condition);
            }
        }
        found.extend(self.nested.iter().map(|(guard, _)| *guard));
        found.retain(|var| system.is_stream(*var) && !computed.contains(var));
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The predicate that ends windows; `None` if it can never hold.
pub fn derived_end(context: &Context<'_>, outputs: &[VarId], draft: &Draft) -> Option<DerivedEnd> {
    let system = context.system;
    let inside: Vec<VarId> =
        context.streams.iter().copied().filter(|var| draft.task.is_inside[var.index()]).collect();
    let clock = draft.task.shape.clock;
    let waiting = Waiting::new(system, &inside, clock);
    let required = required(system, &waiting, outputs, &inside, clock);
    let pending: Vec<Pending> = inside.iter().filter_map(|var| waiting.pending(*var, &required)).collect();
    if waiting.never_closes(&required, &pending) {
        return None;
    }
    let mut bits = waiting.bits(&required);
    let required: Vec<Required> = required
        .into_iter()
        .filter(|required| bits.iter().any(|needing| needing.var == required.var))
        .collect();
    let nested: Vec<(VarId, Polarity)> = draft
        .units
        .iter()
        .filter_map(|unit| match &unit.run {
            UnitRun::Nested(inner) => inner.task.shape.guard,
            UnitRun::Retimed(..) => None,
        })
        .map(|(guard, truth)| (guard, polarity(truth)))
        .collect();
    // Drops operands whose bits are never set.
    let is_needing: FxHashSet<VarId> = bits.iter().map(|needing| needing.var).collect();
    for needing in &mut bits {
        if let Bit::Any(operands) = &mut needing.bit {
            operands.retain(|operand| is_needing.contains(operand));
        }
    }
    let scan = waiting.scan(&bits, &nested);
    Some(DerivedEnd { scan, bits, required, pending, nested })
}

fn polarity(truth: bool) -> Polarity {
    if truth { Polarity::On } else { Polarity::OnNot }
}

/// Outputs and operands of delays: their cells must be known when the window ends.
fn required(
    system: &System<'_>,
    waiting: &Waiting<'_>,
    outputs: &[VarId],
    inside: &[VarId],
    clock: ClockNo,
) -> Vec<Required> {
    let mut vars: Vec<VarId> = outputs.to_vec();
    // If the value of an output is known, its presence must still be computed.
    for output in outputs {
        vars.extend(system.conditions(system.clock(*output)).map(|(condition, _)| condition));
    }
    for var in inside {
        if let Def::Fby { next, .. } | Def::Ahead { next, .. } = system.def(*var) {
            vars.push(*next);
        }
    }
    vars.retain(|var| waiting.is_in.contains(var));
    vars.sort_unstable();
    vars.dedup();
    vars.into_iter().map(|var| Required { var, is_sampled: system.clock(var) != clock }).collect()
}

/// At most this many conditions are split into cases.
const MAX_CONDITIONS: usize = 64;

struct Waiting<'a> {
    system: &'a System<'a>,
    clock: ClockNo,
    /// The streams of the window, operands at the same cycle first.
    order: Vec<VarId>,
    is_in: FxHashSet<VarId>,
    /// Streams on a cycle within one activation.
    is_circular: FxHashSet<VarId>,
}

impl<'a> Waiting<'a> {
    fn new(system: &'a System<'a>, inside: &[VarId], clock: ClockNo) -> Self {
        let here = |need: Need| !matches!(need, Need::Past | Need::Future);
        let mut is_circular = FxHashSet::default();
        let mut order = Vec::new();
        for members in system.components(inside, here) {
            let is_cycle = members.len() > 1
                || system.needs(members[0]).any(|(operand, need)| operand == members[0] && here(need));
            if is_cycle {
                is_circular.extend(members.iter().copied());
            }
            order.extend(members);
        }
        Waiting { system, clock, order, is_in: inside.iter().copied().collect(), is_circular }
    }

    fn conditions(&self, var: VarId) -> Vec<(VarId, bool)> {
        self.system.conditions_below(self.system.clock(var), self.clock)
    }

    /// How to compute the bit of a stream, before bits that are never set are removed.
    fn bit(&self, var: VarId) -> Bit {
        if self.is_circular.contains(&var) {
            return Bit::Set;
        }
        match self.system.def(var) {
            Def::Input | Def::Known(_) | Def::Materialised(_) | Def::Absent => Bit::Any(Vec::new()),
            Def::Copy(operand) => Bit::Any(vec![*operand]),
            Def::Apply(_, operands) => Bit::Any(operands.to_vec()),
            Def::Choice { condition, yes, no } => Bit::Choice { condition: *condition, yes: *yes, no: *no },
            Def::Fby { init, .. } => Bit::First { fby: var, init: *init },
            Def::Ahead { .. } => Bit::Set,
        }
    }

    /// The bits that may be set and on which required streams depend.
    fn bits(&self, required: &[Required]) -> Vec<Needing> {
        let mut may_be_set: FxHashSet<VarId> = FxHashSet::default();
        let mut found: FxHashMap<VarId, Needing> = FxHashMap::default();
        for var in &self.order {
            let bit = self.bit(*var);
            let own = match &bit {
                Bit::Set => true,
                Bit::Any(operands) => operands.iter().any(|operand| may_be_set.contains(operand)),
                Bit::First { init, .. } => may_be_set.contains(init),
                Bit::Choice { condition, yes, no } => {
                    [condition, yes, no].into_iter().any(|operand| may_be_set.contains(operand))
                }
            };
            let conditions = self.conditions(*var);
            if own || conditions.iter().any(|(condition, _)| may_be_set.contains(condition)) {
                may_be_set.insert(*var);
                let clock = conditions.into_iter().map(|(var, truth)| (var, polarity(truth))).collect();
                found.insert(*var, Needing { var: *var, clock, bit });
            }
        }
        let mut is_asked: FxHashSet<VarId> = FxHashSet::default();
        let mut todo: Vec<VarId> = required.iter().map(|required| required.var).collect();
        while let Some(var) = todo.pop() {
            let Some(needing) = found.get(&var) else { continue };
            if !is_asked.insert(var) {
                continue;
            }
            todo.extend(needing.clock.iter().map(|(condition, _)| *condition));
            match &needing.bit {
                Bit::Set => {}
                Bit::Any(operands) => todo.extend(operands),
                Bit::First { init, .. } => todo.push(*init),
                Bit::Choice { condition, yes, no } => todo.extend([condition, yes, no]),
            }
        }
        self.order.iter().filter(|var| is_asked.contains(var)).filter_map(|var| found.remove(var)).collect()
    }

    /// For a delay into the future on a sampled clock: the required streams that depend on it at the same
    /// cycle. `None` for all other streams.
    fn pending(&self, shift: VarId, required: &[Required]) -> Option<Pending> {
        if !matches!(self.system.def(shift), Def::Ahead { .. }) || self.system.clock(shift) == self.clock {
            return None;
        }
        let mut seen: FxHashSet<VarId> = FxHashSet::default();
        let mut todo = vec![shift];
        while let Some(var) = todo.pop() {
            if !self.is_in.contains(&var) || !seen.insert(var) {
                continue;
            }
            for user in &self.system.users[var.index()] {
                let is_here = |(operand, need): (VarId, Need)| {
                    operand == var && !matches!(need, Need::Past | Need::Future)
                };
                if self.system.needs(*user).any(is_here) {
                    todo.push(*user);
                }
            }
        }
        let reaches = required.iter().map(|required| required.var).filter(|var| seen.contains(var)).collect();
        Some(Pending { shift, reaches })
    }

    /// Whether a window never ends, because some required stream needs a later cycle in every case. A stream
    /// that needs one if a condition holds, and also if it does not, always needs one:
    /// `merge c x 0.0 + merge c 0.0 x`.
    fn never_closes(&self, required: &[Required], pending: &[Pending]) -> bool {
        let mut conditions: Vec<VarId> = Vec::new();
        for var in &self.order {
            if let Bit::Choice { condition, .. } = self.bit(*var) {
                conditions.push(condition);
            }
        }
        conditions.sort_unstable();
        conditions.dedup();
        conditions.truncate(MAX_CONDITIONS);
        let is_stuck = |assumed: &[(VarId, bool)], vars: &mut dyn Iterator<Item = VarId>| {
            let vars: Vec<VarId> = vars.collect();
            let stuck = |assumed: &[(VarId, bool)]| {
                let least = self.least(assumed);
                vars.iter().copied().filter(|var| least.contains(var)).collect::<Vec<_>>()
            };
            if !stuck(assumed).is_empty() {
                return true;
            }
            let is_free = |condition: &&VarId| assumed.iter().all(|(other, _)| other != *condition);
            conditions.iter().filter(is_free).any(|condition| {
                let [yes, no] = [true, false].map(|truth| stuck(&[assumed, &[(*condition, truth)]].concat()));
                yes.iter().any(|var| no.contains(var))
            })
        };
        // On the clock of the window all required streams are present together.
        let mut everywhere =
            required.iter().filter(|required| !required.is_sampled).map(|required| required.var);
        let sampled = |required: &Required| {
            required.is_sampled
                && is_stuck(&self.conditions(required.var), &mut std::iter::once(required.var))
        };
        let waits = |pending: &Pending| {
            is_stuck(&self.conditions(pending.shift), &mut pending.reaches.iter().copied())
        };
        is_stuck(&[], &mut everywhere) || required.iter().any(sampled) || pending.iter().any(waits)
    }

    /// The present streams whose bits are set for every choice of branches, given the values of some
    /// conditions.
    fn least(&self, assumed: &[(VarId, bool)]) -> FxHashSet<VarId> {
        let mut set: FxHashSet<VarId> = FxHashSet::default();
        let truth =
            |condition: &VarId| assumed.iter().find(|(var, _)| var == condition).map(|(_, truth)| *truth);
        for var in &self.order {
            let is_there = self
                .conditions(*var)
                .iter()
                .all(|(condition, polarity)| truth(condition) != Some(!*polarity));
            let is_set = match self.bit(*var) {
                Bit::Set => true,
                Bit::Any(operands) => operands.iter().any(|operand| set.contains(operand)),
                Bit::First { .. } => false,
                Bit::Choice { condition, yes, no } => {
                    set.contains(&condition)
                        || match truth(&condition) {
                            Some(true) => set.contains(&yes),
                            Some(false) => set.contains(&no),
                            None => set.contains(&yes) && set.contains(&no),
                        }
                }
            };
            if is_set && is_there {
                set.insert(*var);
            }
        }
        set
    }

    /// The operands that the scan reads to compute a stream: for a delay into the future only the conditions
    /// of its clock, because its value is unknown; none for a stream on an instantaneous cycle, which is
    /// always unknown.
    fn scanned_needs(&self, var: VarId) -> impl Iterator<Item = (VarId, Need)> + '_ {
        let is_ahead = matches!(self.system.def(var), Def::Ahead { .. });
        let is_circular = self.is_circular.contains(&var);
        self.system.needs(var).filter(move |(_, need)| !is_circular && (!is_ahead || *need == Need::Clock))
    }

    /// The code that computes the conditions, with everything they depend on.
    fn scan(&self, bits: &[Needing], nested: &[(VarId, Polarity)]) -> Lagged {
        let mut todo: Vec<VarId> = nested.iter().map(|(guard, _)| *guard).collect();
        for needing in bits {
            todo.extend(needing.clock.iter().map(|(condition, _)| *condition));
            if let Bit::Choice { condition, .. } = &needing.bit {
                todo.push(*condition);
            }
            // The register of a `fby` shows whether this is its first activation.
            if let Bit::First { fby, .. } = &needing.bit {
                todo.push(*fby);
            }
        }
        let mut is_scanned: FxHashSet<VarId> = FxHashSet::default();
        let mut arrived: FxHashSet<VarId> = FxHashSet::default();
        while let Some(var) = todo.pop() {
            if !self.system.is_stream(var) {
                continue;
            }
            if !self.is_in.contains(&var) {
                arrived.insert(var);
                continue;
            }
            if is_scanned.insert(var) {
                todo.extend(self.scanned_needs(var).map(|(operand, _)| operand));
            }
        }
        // Delays into the future and streams on instantaneous cycles are unknown: they have no operands.
        let order: Vec<usize> =
            self.order.iter().filter(|var| is_scanned.contains(var)).map(|var| var.index()).collect();
        let order = order_within(&order, |var| {
            let needs = self.scanned_needs(VarId::new(var));
            let needs = needs.filter(|(_, need)| !matches!(need, Need::Past | Need::Future));
            needs
                .map(|(operand, _)| operand)
                .filter(|operand| is_scanned.contains(operand))
                .map(VarId::index)
                .collect()
        });
        let order = order.expect("the scan treats a stream on an instantaneous cycle as unknown");
        let mut arrived: Vec<VarId> = arrived.into_iter().collect();
        arrived.sort_unstable();
        let members = arrived.iter().copied().chain(order.into_iter().map(VarId::new));
        let lags = Lags { order: members.map(|var| (var, 0)).collect() };
        let is_always_unknown =
            |var: VarId| self.is_circular.contains(&var) || matches!(self.system.def(var), Def::Ahead { .. });
        let site = Site {
            clock: self.clock,
            outputs: &[],
            waits_for_all: false,
            outside: &|_| Place::Nowhere,
            slot: &|_| None,
            is_given: &|var| !self.is_in.contains(&var),
            is_always_unknown: &is_always_unknown,
        };
        lagged(self.system, &lags, &site)
    }
}
