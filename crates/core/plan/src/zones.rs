//! The zones of a window, and what is known in each of them (section 4).
//!
//! A window ends where its guard holds. So the guard does not hold at the first and inner cycles, and holds
//! at the last cycle. Such *facts* propagate into the definition of the guard, and from there into everything
//! else. With the guard `end`, the stream `true fby end` is true in the zone F and false in I and L.
//!
//! A guard `a or b` holds because of `a`, or else because of `b`: the last zone is split into alternatives,
//! and the values at the last cycle select one at run time.

use std::collections::VecDeque;

use eddy_flow::VarId;
use eddy_flow::components::components;
use eddy_tensor::{Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::known::{Abstract, KnownValue, evaluate, has_uncertain_clock, presence};
use crate::plan::{Alternative, Mode, Zone};
use crate::system::{ClockNo, Def, Need, System};

/// The largest number of alternatives of a guard that is an `or`.
const MAX_ALTERNATIVES: usize = 4;

/// How windows end, and what is assumed inside.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The clock whose activations are the cycles of a window.
    pub clock: ClockNo,
    /// The condition that ends windows, and its value there.
    pub guard: Option<(VarId, bool)>,
    pub mode: Mode,
    /// A condition that is assumed to have this value at all cycles of the window.
    pub assumes: Option<(VarId, bool)>,
}

impl Shape {
    /// Whether a stream is present at every cycle of a window.
    pub fn is_on_clock(&self, system: &System<'_>, var: VarId) -> bool {
        let clock = system.clock(var);
        clock == self.clock
            || self.assumes.is_some_and(|assumed| {
                system.is_at_or_below(clock, self.clock)
                    && system
                        .conditions_below(clock, self.clock)
                        .iter()
                        .all(|condition| *condition == assumed)
            })
    }
}

/// The zones of a window. F and I are the first two.
#[derive(Clone, Debug)]
pub struct Zones {
    /// F, I, the alternatives of L, then those of O.
    pub list: Vec<Zone>,
    /// How to choose an alternative; empty if there is only one.
    pub alternatives: Vec<Alternative>,
    n_last: usize,
}

/// The zone F.
pub const FIRST: usize = 0;
/// The zone I.
pub const INNER: usize = 1;

impl Zones {
    /// The indices of the alternatives of L.
    pub fn last(&self) -> std::ops::Range<usize> {
        2..2 + self.n_last
    }

    /// The indices of the alternatives of O.
    pub fn only(&self) -> std::ops::Range<usize> {
        2 + self.n_last..2 + 2 * self.n_last
    }

    /// The indices of the zones of windows of two or more cycles.
    pub fn long(&self) -> std::ops::Range<usize> {
        0..2 + self.n_last
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether the zone contains the first cycle of a window.
    pub fn is_start(&self, zone: usize) -> bool {
        zone == FIRST || self.only().contains(&zone)
    }

    /// Whether every cycle of the zone is the last of its window.
    pub fn is_end(&self, zone: usize) -> bool {
        (2..self.len()).contains(&zone)
    }

    /// The zones that may contain the last cycle of a window.
    pub fn ends(&self) -> std::ops::Range<usize> {
        if self.n_last == 0 { 0..2 } else { 2..self.len() }
    }
}

pub struct Evaluation {
    values: Vec<Abstract>,
    n_zones: usize,
}

impl Evaluation {
    pub fn get(&self, var: VarId, zone: usize) -> &Abstract {
        &self.values[var.index() * self.n_zones + zone]
    }

    /// Whether a cell must be computed.
    pub fn is_open(&self, var: VarId, zone: usize) -> bool {
        matches!(self.get(var, zone), Abstract::Top | Abstract::Unset)
    }
}

pub fn zones(system: &System<'_>, shape: &Shape) -> Zones {
    let alternatives = match (shape.mode, shape.guard) {
        (Mode::Guard, Some(guard)) => alternatives(system, guard),
        _ => Vec::new(),
    };
    let n_last = if shape.mode == Mode::Cut { 0 } else { alternatives.len().max(1) };
    let mut list = vec![Zone::First, Zone::Inner];
    list.extend((0..n_last).map(Zone::Last));
    list.extend((0..n_last).map(Zone::Only));
    Zones { list, alternatives, n_last }
}

/// The alternatives in which a condition has a value; each excludes the earlier ones.
fn alternatives(system: &System<'_>, guard: (VarId, bool)) -> Vec<Alternative> {
    let mut disjuncts = vec![guard];
    while disjuncts.len() < MAX_ALTERNATIVES {
        let Some((index, parts)) = disjuncts
            .iter()
            .enumerate()
            .find_map(|(index, disjunct)| Some((index, split(system, *disjunct)?)))
        else {
            break;
        };
        disjuncts.splice(index..=index, parts);
    }
    if disjuncts.len() == 1 {
        return Vec::new();
    }
    let alternative = |index: usize| {
        let before = disjuncts[..index].iter().map(|(var, truth)| (*var, !truth));
        Alternative { conditions: before.chain([disjuncts[index]]).collect() }
    };
    (0..disjuncts.len()).map(alternative).collect()
}

/// The two operands of a disjunction, one of which must hold.
fn split(system: &System<'_>, (var, truth): (VarId, bool)) -> Option<[(VarId, bool); 2]> {
    let (mut at, mut truth) = (var, truth);
    // A cycle of copies is not a valid flow; the bound makes the walk end.
    for _ in 0..system.defs.len() {
        match (system.def(at), truth) {
            (Def::Copy(operand), _) if system.clock(*operand) == system.clock(at) => at = *operand,
            (Def::Apply(Op::Not, operands), _) => (at, truth) = (operands[0], !truth),
            (Def::Apply(Op::Or, operands), true) | (Def::Apply(Op::And, operands), false) => {
                let parts = [(operands[0], truth), (operands[1], truth)];
                return parts.iter().all(|(part, _)| system.is_stream(*part)).then_some(parts);
            }
            _ => return None,
        }
    }
    None
}

type Facts = FxHashMap<(VarId, usize), bool>;

fn facts(system: &System<'_>, shape: &Shape, zones: &Zones) -> Facts {
    let mut facts = Facts::default();
    for zone in 0..zones.len() {
        let mut todo: Vec<(VarId, bool)> = shape.assumes.into_iter().collect();
        if let (Some((guard, truth)), Mode::Guard) = (shape.guard, shape.mode) {
            todo.push((guard, truth == zones.is_end(zone)));
            if let (Zone::Last(number) | Zone::Only(number), false) =
                (zones.list[zone], zones.alternatives.is_empty())
            {
                todo.extend(&zones.alternatives[number].conditions);
            }
        }
        while let Some((var, truth)) = todo.pop() {
            if !system.is_stream(var) || facts.insert((var, zone), truth).is_some() {
                continue;
            }
            match (system.def(var), truth) {
                (Def::Copy(operand), _) if system.clock(*operand) == system.clock(var) => {
                    todo.push((*operand, truth));
                }
                (Def::Apply(Op::Not, operands), _) => todo.push((operands[0], !truth)),
                (Def::Apply(Op::And, operands), true) | (Def::Apply(Op::Or, operands), false) => {
                    todo.extend(operands.iter().map(|operand| (*operand, truth)));
                }
                _ => {}
            }
        }
    }
    facts
}

/// Evaluates these streams in all zones. `before` is what is known about other windows, if that is less than
/// what is known about this one; state carried into a window may come from any window.
///
/// Evaluation is optimistic, which is wrong where streams may wait for themselves: a cell may be known only
/// because it was assumed to be known. Such cells are found afterwards, and become opaque: the evaluation is
/// repeated without any knowledge about them.
pub fn evaluate_zones(
    system: &System<'_>,
    shape: &Shape,
    zones: &Zones,
    vars: &[VarId],
    before: Option<&Evaluation>,
) -> Evaluation {
    let facts = facts(system, shape, zones);
    let mut is_opaque: FxHashSet<(VarId, usize)> = FxHashSet::default();
    loop {
        let rules = Rules { system, shape, zones, facts: &facts, before, is_opaque: &is_opaque };
        let evaluation = rules.evaluate(vars);
        let unfounded = rules.unfounded(&evaluation, vars);
        if unfounded.is_empty() {
            return evaluation;
        }
        is_opaque.extend(unfounded);
    }
}

struct Rules<'a> {
    system: &'a System<'a>,
    shape: &'a Shape,
    zones: &'a Zones,
    facts: &'a Facts,
    before: Option<&'a Evaluation>,
    is_opaque: &'a FxHashSet<(VarId, usize)>,
}

impl Rules<'_> {
    fn evaluate(&self, vars: &[VarId]) -> Evaluation {
        let Rules { system, zones, .. } = *self;
        let n_zones = zones.len();
        let mut values = vec![Abstract::Unset; system.defs.len() * n_zones];
        for var in system.flow.var_ids() {
            let fixed = match system.def(var) {
                Def::Known(known) => Abstract::Known(known.clone()),
                Def::Absent => Abstract::Absent,
                _ => continue,
            };
            values[var.index() * n_zones..(var.index() + 1) * n_zones].fill(fixed);
        }
        let mut evaluation = Evaluation { values, n_zones };
        let mut queue: VecDeque<VarId> = vars.iter().copied().collect();
        let mut is_queued = vec![false; system.defs.len()];
        for var in vars {
            is_queued[var.index()] = true;
        }
        while let Some(var) = queue.pop_front() {
            is_queued[var.index()] = false;
            let mut has_changed = false;
            for zone in 0..n_zones {
                let found = self.value(&evaluation, var, zone);
                let into = &mut evaluation.values[var.index() * n_zones + zone];
                if *into != found {
                    *into = found;
                    has_changed = true;
                }
            }
            if has_changed {
                for user in &system.users[var.index()] {
                    if !std::mem::replace(&mut is_queued[user.index()], true) {
                        queue.push_back(*user);
                    }
                }
            }
        }
        evaluation
    }

    /// Known cells whose justification is circular, through both the past and the future or within one cycle;
    /// and cells that were never visited.
    fn unfounded(&self, evaluation: &Evaluation, vars: &[VarId]) -> Vec<(VarId, usize)> {
        let is_claimed = |var: VarId, zone: usize| {
            self.system.is_circular[var.index()]
                && evaluation.get(var, zone).known().is_some()
                && !self.facts.contains_key(&(var, zone))
        };
        let mut cells = Vec::new();
        for var in vars.iter().filter(|var| self.system.is_circular[var.index()]) {
            cells.extend(
                (0..self.zones.len()).filter(|zone| is_claimed(*var, *zone)).map(|zone| (*var, zone)),
            );
        }
        let numbers: FxHashMap<(VarId, usize), usize> =
            cells.iter().enumerate().map(|(number, cell)| (*cell, number)).collect();
        let reasons: Vec<Vec<(usize, Need)>> = cells
            .iter()
            .map(|(var, zone)| {
                let cells = self.reasons(evaluation, *var, *zone).into_iter();
                cells.filter_map(|(cell, need)| Some((*numbers.get(&cell)?, need))).collect()
            })
            .collect();
        let component = components(cells.len(), |from| reasons[from].iter().map(|(to, _)| *to).collect());
        let is_here = |need: Need| !matches!(need, Need::Past | Need::Future);
        let instantaneous = components(cells.len(), |from| {
            reasons[from].iter().filter(|(_, need)| is_here(*need)).map(|(to, _)| *to).collect()
        });
        let n_components = component.iter().max().map_or(0, |last| last + 1);
        let (mut past, mut future, mut here) =
            (vec![false; n_components], vec![false; n_components], vec![false; n_components]);
        for (from, reasons) in reasons.iter().enumerate() {
            for (to, need) in reasons.iter().filter(|(to, _)| component[*to] == component[from]) {
                match need {
                    Need::Past => past[component[from]] = true,
                    Need::Future => future[component[from]] = true,
                    _ => here[component[from]] |= instantaneous[*to] == instantaneous[from],
                }
            }
        }
        let is_unfounded = |number: &usize| {
            let component = component[*number];
            here[component] || (past[component] && future[component])
        };
        let mut found: Vec<(VarId, usize)> =
            (0..cells.len()).filter(is_unfounded).map(|number| cells[number]).collect();
        for var in vars.iter().filter(|var| self.system.is_circular[var.index()]) {
            let is_unset = |zone: &usize| *evaluation.get(*var, *zone) == Abstract::Unset;
            found.extend((0..self.zones.len()).filter(is_unset).map(|zone| (*var, zone)));
        }
        found
    }

    /// The cells that justify a known cell.
    fn reasons(&self, evaluation: &Evaluation, var: VarId, zone: usize) -> Vec<((VarId, usize), Need)> {
        let zones = self.zones;
        let here = |operand: VarId| ((operand, zone), Need::Now);
        match self.system.def(var) {
            Def::Choice { condition, yes, no } => match evaluation.get(*condition, zone).truth() {
                Some(truth) => vec![here(*condition), here(if truth { *yes } else { *no })],
                None => vec![here(*yes), here(*no)],
            },
            Def::Fby { init, next } => {
                let mut cells = vec![here(*init)];
                cells.extend((0..zones.len()).map(|zone| ((*next, zone), Need::Past)));
                cells
            }
            Def::Ahead { init, next } => {
                let mut cells: Vec<_> = init.iter().map(|init| here(*init)).collect();
                cells.extend((0..zones.len()).map(|zone| ((*next, zone), Need::Future)));
                cells
            }
            _ => self.system.needs(var).map(|(operand, _)| here(operand)).collect(),
        }
    }

    fn value(&self, evaluation: &Evaluation, var: VarId, zone: usize) -> Abstract {
        let Rules { system, shape, .. } = *self;
        let clock = system.clock(var);
        if !system.is_at_or_below(clock, shape.clock) {
            return Abstract::Top;
        }
        if let Some(truth) = self.facts.get(&(var, zone)) {
            return Abstract::Known(KnownValue::Value(Value::Bool(*truth)));
        }
        let get = |operand: VarId| evaluation.get(operand, zone).clone();
        let conditions = system.conditions_below(clock, shape.clock);
        match presence(system, conditions.into_iter(), get) {
            Abstract::Top => {}
            other => return other,
        }
        if self.is_opaque.contains(&(var, zone)) {
            return Abstract::Top;
        }
        match system.def(var) {
            Def::Fby { .. } | Def::Ahead { .. } if has_uncertain_clock(system, var) => Abstract::Top,
            Def::Fby { init, next } => self.fby(evaluation, var, zone, *init, *next),
            Def::Ahead { init: None, .. } => Abstract::Top,
            Def::Ahead { init: Some(init), next } => self.fby_back(evaluation, var, zone, *init, *next),
            _ => evaluate(system, var, get, || Abstract::Top),
        }
    }

    fn join(
        evaluation: &Evaluation,
        var: VarId,
        zones: impl Iterator<Item = usize>,
        first: Abstract,
    ) -> Abstract {
        // An absent operand contributes nothing.
        let present =
            |value: &Abstract| if *value == Abstract::Absent { Abstract::Unset } else { value.clone() };
        zones.fold(present(&first), |found, zone| found.join(&present(evaluation.get(var, zone))))
    }

    fn fby(&self, evaluation: &Evaluation, var: VarId, zone: usize, init: VarId, next: VarId) -> Abstract {
        let zones = self.zones;
        let first = evaluation.get(init, zone).clone();
        if !self.shape.is_on_clock(self.system, var) {
            let first = if self.system.is_memory[var.index()] { Abstract::Top } else { first };
            let inside = Self::join(evaluation, next, 0..zones.len(), first);
            return match self.before {
                Some(before) => Self::join(before, next, 0..zones.len(), inside),
                None => inside,
            };
        }
        if !zones.is_start(zone) {
            return Self::join(evaluation, next, FIRST..=INNER, Abstract::Unset);
        }
        if self.system.is_memory[var.index()] {
            return Abstract::Top;
        }
        match self.shape.mode {
            Mode::Trace => first,
            Mode::Guard | Mode::Cut => {
                Self::join(self.before.unwrap_or(evaluation), next, zones.ends(), first)
            }
        }
    }

    fn fby_back(
        &self,
        evaluation: &Evaluation,
        var: VarId,
        zone: usize,
        init: VarId,
        next: VarId,
    ) -> Abstract {
        let zones = self.zones;
        let last = evaluation.get(init, zone).clone();
        if self.shape.is_on_clock(self.system, var) && self.shape.mode == Mode::Trace {
            if zones.is_end(zone) {
                return last;
            }
            return Self::join(evaluation, next, [INNER].into_iter().chain(zones.last()), Abstract::Unset);
        }
        let inside = Self::join(evaluation, next, 0..zones.len(), last);
        match self.before {
            Some(before) => Self::join(before, next, 0..zones.len(), inside),
            None => inside,
        }
    }
}
