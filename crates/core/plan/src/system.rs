//! The equations as planning sees them (section 1): live, without constants, with the conditions of clocks
//! written out.
//!
//! Constants, parameters and operations on them are *known*: they are not computed at each cycle, and cost
//! nothing as operands. An `if` or `merge` whose condition is known is a copy of one branch, so a program
//! whose training code is switched off reduces to its model. A `when` is a copy too: its clock determines its
//! presence.

use eddy_flow::clocks::{Clock, ClockId, Clocks};
use eddy_flow::components::components;
use eddy_flow::{Flow, Kind, Polarity, VarId};
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Options;
use crate::known::{Abstract, KnownValue, evaluate_everywhere};
use crate::retime::retime;

/// The definition of a stream.
#[derive(Clone, Debug)]
pub enum Def {
    /// Provided by the environment.
    Input,
    /// The same at all cycles.
    Known(KnownValue),
    /// The same wherever it is present, but materialised because its presence matters: the operand of a delay
    /// on a sampled clock.
    Materialised(KnownValue),
    /// Never present.
    Absent,
    /// Equal to another stream wherever this stream is present: copies, `param`, `when`, and the remaining
    /// branch of an `if`.
    Copy(VarId),
    Apply(Op, Box<[VarId]>),
    /// `if` and `merge`.
    Choice {
        condition: VarId,
        yes: VarId,
        no: VarId,
    },
    /// `i fby x`.
    Fby {
        /// `i`
        init: VarId,
        /// `x`
        next: VarId,
    },
    /// `post x`, or `i fby back x` with an initial value.
    Ahead {
        /// `i`
        init: Option<VarId>,
        /// `x`
        next: VarId,
    },
}

eddy_index::id! {
    /// A clock without the conditions that always hold.
    pub struct ClockNo, "fewer clocks than streams";
}

#[derive(Clone, Debug)]
pub(crate) struct ClockInfo {
    /// The clock from which this one is sampled, the condition, and its value; `None` for a root.
    pub sampled: Option<(ClockNo, VarId, bool)>,
    depth: usize,
    root: ClockId,
    /// An equal clock of the flow.
    origin: ClockId,
}

/// How a stream depends on an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// At the same activation.
    Now,
    /// At the same activation, as a condition of its clock.
    Clock,
    /// At the same activation, as an initial value.
    Init,
    /// At the previous activation.
    Past,
    /// At the next activation.
    Future,
}

/// The equations of a program, prepared for planning.
pub struct System<'a> {
    pub flow: &'a Flow,
    pub single: bool,
    pub defs: Vec<Def>,
    /// The streams on which outputs depend, without known ones.
    pub live: Vec<bool>,
    /// The streams that may be unknown at the end of the trace.
    pub may_be_unknown: Vec<bool>,
    /// The live streams that depend on each stream in any way.
    pub users: Vec<Vec<VarId>>,
    /// Streams that may wait for themselves: see [`System::find_deadlocks`].
    pub is_circular: Vec<bool>,
    /// Streams on a dependency cycle within one activation.
    pub is_instantaneous: Vec<bool>,
    /// Circular streams, and all streams that depend on them.
    pub may_deadlock: Vec<bool>,
    /// `fby`s with persistent state, which outlives the data, so their first value need not be the initial
    /// value.
    pub is_memory: Vec<bool>,
    clock_of: Vec<ClockNo>,
    pub(crate) clocks: Vec<ClockInfo>,
}

impl<'a> System<'a> {
    /// Prepares a program; the options determine the values of constants.
    pub fn new(flow: &'a Flow, clocks: &Clocks, options: &Options) -> Self {
        let mut system = System {
            flow,
            single: options.single,
            defs: definitions(flow, options),
            live: vec![true; flow.vars.len()],
            may_be_unknown: Vec::new(),
            users: Vec::new(),
            is_circular: Vec::new(),
            is_instantaneous: Vec::new(),
            may_deadlock: Vec::new(),
            is_memory: vec![false; flow.vars.len()],
            clock_of: Vec::new(),
            clocks: Vec::new(),
        };
        for memory in &flow.persistent_state {
            system.is_memory[memory.var.index()] = true;
        }
        system.set_clocks(clocks, |_| None);
        system.find_dependencies();
        system.see_through_restarts();
        system.find_dependencies();
        let known = evaluate_everywhere(&system);
        system.simplify(known);
        let truth = |defs: &[Def], var: VarId| match &defs[var.index()] {
            Def::Known(known) => known.truth(),
            _ => None,
        };
        let defs = std::mem::take(&mut system.defs);
        system.set_clocks(clocks, |var| truth(&defs, var));
        system.defs = defs;
        system.skip_copies();
        system.materialise_operands();
        system.find_live();
        system.find_dependencies();
        system
    }

    /// Replaces definitions by known values.
    fn simplify(&mut self, known: Vec<Abstract>) {
        let truth = |var: VarId| match &known[var.index()] {
            Abstract::Known(known) => known.truth(),
            _ => None,
        };
        for (def, value) in self.defs.iter_mut().zip(&known) {
            match (value, &*def) {
                (Abstract::Known(known), _) => *def = Def::Known(known.clone()),
                (Abstract::Absent, _) => *def = Def::Absent,
                (_, Def::Choice { condition, yes, no }) => {
                    if let Some(truth) = truth(*condition) {
                        *def = Def::Copy(if truth { *yes } else { *no });
                    }
                }
                _ => {}
            }
        }
    }

    /// Materialises the operands of delays on sampled clocks even if they are known.
    fn materialise_operands(&mut self) {
        for var in self.flow.var_ids() {
            let (Def::Fby { next, .. } | Def::Ahead { next, .. }) = *self.def(var) else { continue };
            if let (Def::Known(known), false) = (self.def(next), self.is_root(self.clock(var))) {
                self.defs[next.index()] = Def::Materialised(known.clone());
            }
        }
    }

    /// Sets the clock of each stream, without conditions that `truth` knows to hold.
    fn set_clocks(&mut self, clocks: &Clocks, truth: impl Fn(VarId) -> Option<bool>) {
        self.clocks.clear();
        let mut numbers: FxHashMap<(ClockNo, VarId, bool), ClockNo> = FxHashMap::default();
        let mut of_clock: Vec<ClockNo> = Vec::new();
        for (index, clock) in clocks.all().iter().enumerate() {
            let origin = ClockId::new(index);
            let number = match clock {
                Clock::Root(_) => self.new_clock(ClockInfo { sampled: None, depth: 0, root: origin, origin }),
                Clock::On { of, condition, polarity } => {
                    let of = of_clock[of.index()];
                    let polarity = *polarity == Polarity::On;
                    if truth(*condition) == Some(polarity) {
                        of
                    } else if let Some(known) = numbers.get(&(of, *condition, polarity)) {
                        *known
                    } else {
                        let depth = self.info(of).depth + 1;
                        let root = self.info(of).root;
                        let sampled = Some((of, *condition, polarity));
                        let number = self.new_clock(ClockInfo { sampled, depth, root, origin });
                        numbers.insert((of, *condition, polarity), number);
                        number
                    }
                }
            };
            of_clock.push(number);
        }
        self.clock_of = self.flow.var_ids().map(|var| of_clock[clocks.of(var).index()]).collect();
    }

    fn new_clock(&mut self, info: ClockInfo) -> ClockNo {
        self.clocks.push(info);
        ClockNo::new(self.clocks.len() - 1)
    }

    fn info(&self, clock: ClockNo) -> &ClockInfo {
        &self.clocks[clock.index()]
    }

    /// Marks the streams on which outputs depend, through operands and clock conditions. Only these are
    /// planned.
    fn find_live(&mut self) {
        let mut live = vec![false; self.defs.len()];
        let mut todo = self.flow.outputs.clone();
        while let Some(var) = todo.pop() {
            if !self.is_stream(var) || std::mem::replace(&mut live[var.index()], true) {
                continue;
            }
            todo.extend(self.needs(var).map(|(operand, _)| operand));
        }
        // The presence of a known output depends on its clock.
        for output in &self.flow.outputs {
            todo.extend(self.conditions(self.clock(*output)).map(|(condition, _)| condition));
        }
        while let Some(var) = todo.pop() {
            if self.is_stream(var) && !std::mem::replace(&mut live[var.index()], true) {
                todo.extend(self.needs(var).map(|(operand, _)| operand));
            }
        }
        self.live = live;
    }

    /// Finds the users of each stream, and the streams that may be unknown or wait for themselves.
    fn find_dependencies(&mut self) {
        let mut users = vec![Vec::new(); self.defs.len()];
        for var in self.flow.var_ids().filter(|var| self.live[var.index()]) {
            // The abstract value of an input depends on the conditions of its clock, which `needs` omits.
            let clock = self.conditions(self.clock(var)).map(|(condition, _)| condition);
            for operand in self.needs(var).map(|(operand, _)| operand).chain(clock) {
                if users[operand.index()].last() != Some(&var) {
                    users[operand.index()].push(var);
                }
            }
        }
        self.users = users;
        // Everything that depends on a `post` may be unknown at the end of the trace.
        let mut may_be_unknown = vec![false; self.defs.len()];
        let is_post = |var: &VarId| matches!(self.defs[var.index()], Def::Ahead { init: None, .. });
        let mut todo: Vec<VarId> =
            self.flow.var_ids().filter(|var| self.live[var.index()]).filter(is_post).collect();
        while let Some(var) = todo.pop() {
            if !std::mem::replace(&mut may_be_unknown[var.index()], true) {
                todo.extend(&self.users[var.index()]);
            }
        }
        self.may_be_unknown = may_be_unknown;
        self.find_deadlocks();
    }

    /// Finds the streams that may wait for themselves. Such a stream has no value, so nothing may be
    /// concluded from the assumption that it has one. A stream may wait for itself on a cycle within one
    /// activation, which only conditions break, and on a cycle that reads both the past and the future, if no
    /// lags exist for it.
    ///
    /// ```text
    /// v = 1.0 fby back w;  w = v * (1.0 fby v)     v needs w at the next activation, which needs v now
    /// ```
    fn find_deadlocks(&mut self) {
        let here = |need: Need| !matches!(need, Need::Past | Need::Future);
        let live: Vec<VarId> = self.flow.var_ids().filter(|var| self.live[var.index()]).collect();
        let all = self.components(&live, |_| true);
        let instantaneous = self.components(&live, here);
        let mut is_instantaneous = vec![false; self.defs.len()];
        for var in instantaneous.iter().filter(|members| self.is_cycle(members, here)).flatten() {
            is_instantaneous[var.index()] = true;
        }
        let mut is_circular = is_instantaneous.clone();
        for var in all.iter().filter(|members| self.is_two_way(members)).flatten() {
            is_circular[var.index()] = true;
        }
        let mut may_deadlock = vec![false; self.defs.len()];
        let mut todo: Vec<VarId> = live.into_iter().filter(|var| is_circular[var.index()]).collect();
        while let Some(var) = todo.pop() {
            if !std::mem::replace(&mut may_deadlock[var.index()], true) {
                todo.extend(&self.users[var.index()]);
            }
        }
        (self.is_circular, self.is_instantaneous, self.may_deadlock) =
            (is_circular, is_instantaneous, may_deadlock);
    }

    /// The components under the dependencies that `is_asked` accepts, each after the components of its
    /// operands.
    pub fn components(&self, vars: &[VarId], is_asked: impl Fn(Need) -> bool) -> Vec<Vec<VarId>> {
        const OUTSIDE: usize = usize::MAX;
        let mut position = vec![OUTSIDE; self.defs.len()];
        for (index, var) in vars.iter().enumerate() {
            position[var.index()] = index;
        }
        let component = components(vars.len(), |vertex| {
            let needs = self.needs(vars[vertex]).filter(|(_, need)| is_asked(*need));
            needs.map(|(operand, _)| position[operand.index()]).filter(|to| *to != OUTSIDE).collect()
        });
        let mut members = vec![Vec::new(); component.iter().max().map_or(0, |last| last + 1)];
        for (vertex, component) in component.iter().enumerate() {
            members[*component].push(vars[vertex]);
        }
        members
    }

    /// Whether a component has a cycle.
    fn is_cycle(&self, members: &[VarId], is_asked: impl Fn(Need) -> bool) -> bool {
        members.len() > 1
            || self.needs(members[0]).any(|(operand, need)| operand == members[0] && is_asked(need))
    }

    /// Whether a component reads both its past and its future, and no lags make it a forward loop.
    fn is_two_way(&self, members: &[VarId]) -> bool {
        let inside: FxHashSet<VarId> = members.iter().copied().collect();
        let (mut past, mut future) = (false, false);
        for (operand, need) in members.iter().flat_map(|var| self.needs(*var)) {
            past |= need == Need::Past && inside.contains(&operand);
            future |= need == Need::Future && inside.contains(&operand);
        }
        past && future && retime(self, members, self.clock(members[0])).is_err()
    }

    pub fn def(&self, var: VarId) -> &Def {
        &self.defs[var.index()]
    }

    /// Whether a stream must be computed or read, because it is neither known nor absent.
    pub fn is_stream(&self, var: VarId) -> bool {
        !matches!(self.def(var), Def::Known(_) | Def::Absent)
    }

    pub fn is_input(&self, var: VarId) -> bool {
        matches!(self.def(var), Def::Input)
    }

    pub fn streams_of(&self, root: ClockId) -> impl Iterator<Item = VarId> + '_ {
        self.flow.var_ids().filter(move |var| self.live[var.index()] && self.root(*var) == root)
    }

    /// The dependencies of a stream, including known operands. Inputs have none: their presence is observed
    /// on arrival.
    pub fn needs(&self, var: VarId) -> impl Iterator<Item = (VarId, Need)> + '_ {
        type Few = [Option<(VarId, Need)>; 3];
        let (few, many): (Few, &[VarId]) = match self.def(var) {
            Def::Input | Def::Known(_) | Def::Materialised(_) | Def::Absent => ([None; 3], &[]),
            Def::Copy(operand) => ([Some((*operand, Need::Now)), None, None], &[]),
            Def::Apply(_, operands) => ([None; 3], operands),
            Def::Choice { condition, yes, no } => {
                ([condition, yes, no].map(|operand| Some((*operand, Need::Now))), &[])
            }
            Def::Fby { init, next } => ([Some((*init, Need::Init)), Some((*next, Need::Past)), None], &[]),
            Def::Ahead { init, next } => {
                ([init.map(|init| (init, Need::Init)), Some((*next, Need::Future)), None], &[])
            }
        };
        let n_conditions = if self.is_input(var) { 0 } else { usize::MAX };
        let conditions = self.conditions(self.clock(var)).take(n_conditions);
        let conditions = conditions.map(|(condition, _)| (condition, Need::Clock));
        few.into_iter().flatten().chain(many.iter().map(|operand| (*operand, Need::Now))).chain(conditions)
    }

    pub fn clock(&self, var: VarId) -> ClockNo {
        self.clock_of[var.index()]
    }

    pub fn root(&self, var: VarId) -> ClockId {
        self.info(self.clock(var)).root
    }

    /// A clock of the flow that equals this one.
    pub fn origin(&self, clock: ClockNo) -> ClockId {
        self.info(clock).origin
    }

    /// The root as a clock.
    pub fn root_clock(&self, root: ClockId) -> ClockNo {
        let is_root = |info: &ClockInfo| info.sampled.is_none() && info.root == root;
        let index = self.clocks.iter().position(is_root).expect("each root is a clock");
        ClockNo::new(index)
    }

    pub fn is_root(&self, clock: ClockNo) -> bool {
        self.info(clock).sampled.is_none()
    }

    /// The conditions of a clock and their values, inner ones first.
    pub fn conditions(&self, clock: ClockNo) -> impl Iterator<Item = (VarId, bool)> + '_ {
        let mut at = clock;
        std::iter::from_fn(move || {
            let (of, condition, polarity) = self.info(at).sampled?;
            at = of;
            Some((condition, polarity))
        })
    }

    /// The conditions of a clock, outer ones first.
    pub fn all_conditions(&self, clock: ClockNo) -> Vec<(VarId, bool)> {
        let mut conditions: Vec<_> = self.conditions(clock).collect();
        conditions.reverse();
        conditions
    }

    /// The conditions of a clock below another one, outer ones first.
    pub fn conditions_below(&self, clock: ClockNo, above: ClockNo) -> Vec<(VarId, bool)> {
        let n = self.info(clock).depth - self.info(above).depth;
        let mut conditions: Vec<_> = self.conditions(clock).take(n).collect();
        conditions.reverse();
        conditions
    }

    /// Whether a clock equals `above` or is sampled from it.
    pub fn is_at_or_below(&self, clock: ClockNo, above: ClockNo) -> bool {
        let mut at = clock;
        loop {
            if at == above {
                return true;
            }
            match self.info(at).sampled {
                Some((of, ..)) if self.info(at).depth > self.info(above).depth => at = of,
                _ => return false,
            }
        }
    }
}

fn definitions(flow: &Flow, options: &Options) -> Vec<Def> {
    let mut defs = vec![Def::Input; flow.vars.len()];
    for equation in &flow.equations {
        defs[equation.out.index()] = match &equation.kind {
            Kind::Const(constant) => {
                Def::Known(KnownValue::constant(constant, &flow.var(equation.out).ty, options))
            }
            Kind::Apply(Op::Copy, operands) => Def::Copy(operands[0]),
            Kind::Apply(Op::If, operands) => {
                Def::Choice { condition: operands[0], yes: operands[1], no: operands[2] }
            }
            Kind::Apply(op, operands) => Def::Apply(op.clone(), operands.clone()),
            Kind::When { value, .. } => Def::Copy(*value),
            Kind::Merge { condition, yes, no } => Def::Choice { condition: *condition, yes: *yes, no: *no },
            Kind::Fby { init, next } => Def::Fby { init: *init, next: *next },
            Kind::FbyBack { init, next } => Def::Ahead { init: Some(*init), next: *next },
            Kind::Post(operand) => Def::Ahead { init: None, next: *operand },
            Kind::Param(operand) => Def::Copy(*operand),
        };
    }
    defs
}
