//! The equations as planning sees them (section 1): live, with constants removed and conditions of clocks written out.
//!
//! What never changes is no stream to be computed: constants, parameters, and what is made of them are *known*, and operands
//! that are known cost nothing. An `if` or `merge` whose condition is known is a copy of one branch, so training code that never
//! trains is its model. A `when` is a copy, too: whether it is there is said by its clock.

use eddy_flow::clocks::{Clock, ClockId, Clocks};
use eddy_flow::components::components;
use eddy_flow::{Flow, Kind, Polarity, VarId};
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Options;
use crate::known::{Abstract, Known, evaluate_everywhere};
use crate::retime::retime;

/// What a stream is.
#[derive(Clone, Debug)]
pub enum Def {
    /// Given by the environment.
    Input,
    /// The same at all cycles.
    Known(Known),
    /// The same wherever it is there, and it matters where that is: the operand of a delay on a sampled clock.
    Spelled(Known),
    /// Never there.
    Absent,
    /// Another stream, where this one is there: copies, `param`, `when`, and what is left of an `if`.
    Copy(VarId),
    /// An operation.
    Apply(Op, Box<[VarId]>),
    /// `if` and `merge`.
    Choice {
        /// The condition.
        condition: VarId,
        /// If it is true.
        yes: VarId,
        /// If it is false.
        no: VarId,
    },
    /// `i fby x`.
    Fby {
        /// i.
        init: VarId,
        /// x.
        next: VarId,
    },
    /// `post x`, or `i fby back x` with an initial value.
    Ahead {
        /// i.
        init: Option<VarId>,
        /// x.
        next: VarId,
    },
}

/// A clock without the conditions that always hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClockNo(u32);

#[derive(Clone, Debug)]
pub(crate) struct ClockInfo {
    /// The clock that it samples, and by which value of which condition.
    pub sampled: Option<(ClockNo, VarId, bool)>,
    depth: usize,
    root: ClockId,
    /// A clock of the flow that it is.
    origin: ClockId,
}

/// How an operand is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// At the same activation.
    Now,
    /// At the same activation, to know whether the stream is there.
    Clock,
    /// At the same activation, as an initial value.
    Init,
    /// At the activation before.
    Past,
    /// At the next activation.
    Future,
}

/// The equations of a program, ready to be planned.
pub struct System<'a> {
    /// The program.
    pub flow: &'a Flow,
    /// Whether numbers have single precision.
    pub single: bool,
    /// What each stream is.
    pub defs: Vec<Def>,
    /// The streams that outputs are made of, and that are not known.
    pub live: Vec<bool>,
    /// The streams that may be unknown at the end of the trace.
    pub may_be_unknown: Vec<bool>,
    /// For each stream the live ones that need it in any way.
    pub users: Vec<Vec<VarId>>,
    /// Streams that may wait for themselves: see [`System::find_doubtful`].
    pub is_circular: Vec<bool>,
    /// Those that do so within one activation.
    pub is_instantaneous: Vec<bool>,
    /// Streams that may wait for themselves, and all that depend on them.
    pub is_doubtful: Vec<bool>,
    /// `fby`s whose state outlives the data, so that their first value is not the initial one.
    pub is_memory: Vec<bool>,
    clock_of: Vec<ClockNo>,
    pub(crate) clocks: Vec<ClockInfo>,
}

impl<'a> System<'a> {
    /// Makes a program ready to be planned; the options say what constants are.
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
            is_doubtful: Vec::new(),
            is_memory: vec![false; flow.vars.len()],
            clock_of: Vec::new(),
            clocks: Vec::new(),
        };
        for memory in &flow.memory {
            system.is_memory[memory.var.index()] = true;
        }
        system.set_clocks(clocks, |_| None);
        system.index();
        system.see_through_restarts();
        system.index();
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
        system.spell();
        system.find_live();
        system.index();
        system
    }

    /// Puts in what is known of each stream.
    fn simplify(&mut self, known: Vec<Abstract>) {
        let truth = |var: VarId| match &known[var.index()] {
            Abstract::Known(known) => known.truth(),
            _ => None,
        };
        for (def, value) in self.defs.iter_mut().zip(&known) {
            match (value, &*def) {
                (Abstract::Known(known), _) => *def = Def::Known(known.clone()),
                // A stream of which nothing is found waits for itself for ever, or is never there.
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

    /// Operands of delays on sampled clocks are written down even if they are known.
    fn spell(&mut self) {
        for var in self.flow.var_ids() {
            let (Def::Fby { next, .. } | Def::Ahead { next, .. }) = *self.def(var) else { continue };
            if let (Def::Known(known), false) = (self.def(next), self.is_root(self.clock(var))) {
                self.defs[next.index()] = Def::Spelled(known.clone());
            }
        }
    }

    /// The clock of each stream, without conditions that `truth` knows to hold.
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
        ClockNo(u32::try_from(self.clocks.len() - 1).expect("fewer clocks than streams"))
    }

    fn info(&self, clock: ClockNo) -> &ClockInfo {
        &self.clocks[clock.0 as usize]
    }

    /// Only what outputs reach, through operands and clock conditions, is planned.
    fn find_live(&mut self) {
        let mut live = vec![false; self.defs.len()];
        let mut todo = self.flow.outputs.clone();
        while let Some(var) = todo.pop() {
            if !self.is_stream(var) || std::mem::replace(&mut live[var.index()], true) {
                continue;
            }
            todo.extend(self.needs(var).map(|(operand, _)| operand));
        }
        // An output that is known is there where its clock says so.
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

    fn index(&mut self) {
        let mut users = vec![Vec::new(); self.defs.len()];
        for var in self.flow.var_ids().filter(|var| self.live[var.index()]) {
            // What is known of an input depends on what is known of its clock.
            let clock = self.conditions(self.clock(var)).map(|(condition, _)| condition);
            for operand in self.needs(var).map(|(operand, _)| operand).chain(clock) {
                if users[operand.index()].last() != Some(&var) {
                    users[operand.index()].push(var);
                }
            }
        }
        self.users = users;
        // Whatever is made of a `post` is unknown at the end of the trace.
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
        self.find_doubtful();
    }

    /// A stream that waits for itself has no value, and none must be concluded from the assumption that it has one. That may
    /// happen on a cycle within one activation, which only conditions break; and on cycles that go to the past and to the
    /// future and do not come out in the past.
    ///
    /// ```text
    /// v = 1.0 fby back w;  w = v * (1.0 fby v)        v needs w at the next activation, which needs v at this one
    /// ```
    fn find_doubtful(&mut self) {
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
        let mut is_doubtful = vec![false; self.defs.len()];
        let mut todo: Vec<VarId> = live.into_iter().filter(|var| is_circular[var.index()]).collect();
        while let Some(var) = todo.pop() {
            if !std::mem::replace(&mut is_doubtful[var.index()], true) {
                todo.extend(&self.users[var.index()]);
            }
        }
        (self.is_circular, self.is_instantaneous, self.is_doubtful) =
            (is_circular, is_instantaneous, is_doubtful);
    }

    /// Streams that depend on each other in ways that are asked for, components that others need first.
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

    /// Whether a component has a cycle at all.
    fn is_cycle(&self, members: &[VarId], is_asked: impl Fn(Need) -> bool) -> bool {
        members.len() > 1
            || self.needs(members[0]).any(|(operand, need)| operand == members[0] && is_asked(need))
    }

    /// Whether cycles of a component go both ways, and no lags make a forward loop of it.
    fn is_two_way(&self, members: &[VarId]) -> bool {
        let inside: FxHashSet<VarId> = members.iter().copied().collect();
        let (mut past, mut future) = (false, false);
        for (operand, need) in members.iter().flat_map(|var| self.needs(*var)) {
            past |= need == Need::Past && inside.contains(&operand);
            future |= need == Need::Future && inside.contains(&operand);
        }
        past && future && retime(self, members, self.clock(members[0])).is_err()
    }

    /// What a stream is.
    pub fn def(&self, var: VarId) -> &Def {
        &self.defs[var.index()]
    }

    /// Whether there is something to compute or to read: it is neither known nor absent.
    pub fn is_stream(&self, var: VarId) -> bool {
        !matches!(self.def(var), Def::Known(_) | Def::Absent)
    }

    /// Whether it is an input.
    pub fn is_input(&self, var: VarId) -> bool {
        matches!(self.def(var), Def::Input)
    }

    /// The live streams of a root.
    pub fn streams_of(&self, root: ClockId) -> impl Iterator<Item = VarId> + '_ {
        self.flow.var_ids().filter(move |var| self.live[var.index()] && self.root(*var) == root)
    }

    /// What a stream needs, and how; known operands too. Inputs need nothing: whether they are there is seen when they come.
    pub fn needs(&self, var: VarId) -> impl Iterator<Item = (VarId, Need)> + '_ {
        type Few = [Option<(VarId, Need)>; 3];
        let (few, many): (Few, &[VarId]) = match self.def(var) {
            Def::Input | Def::Known(_) | Def::Spelled(_) | Def::Absent => ([None; 3], &[]),
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

    /// The clock of a stream.
    pub fn clock(&self, var: VarId) -> ClockNo {
        self.clock_of[var.index()]
    }

    /// The root of a stream.
    pub fn root(&self, var: VarId) -> ClockId {
        self.info(self.clock(var)).root
    }

    /// A clock as the flow knows it.
    pub fn origin(&self, clock: ClockNo) -> ClockId {
        self.info(clock).origin
    }

    /// The root as a clock.
    pub fn root_clock(&self, root: ClockId) -> ClockNo {
        let is_root = |info: &ClockInfo| info.sampled.is_none() && info.root == root;
        let index = self.clocks.iter().position(is_root).expect("each root is a clock");
        ClockNo(u32::try_from(index).expect("fewer clocks than streams"))
    }

    /// Whether a clock is a root.
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

    /// Whether a clock is another one or sampled from it.
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
                Def::Known(Known::constant(constant, &flow.var(equation.out).ty, options))
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
