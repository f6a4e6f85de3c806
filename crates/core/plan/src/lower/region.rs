//! Translates the steps of a region to instructions: finds the place of each operand.

use eddy_flow::{Polarity, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::late::{Site, lagged};
use super::storage::{Homes, Spot, Storage};
use super::{Arrival, arrival_place};
use crate::cells::{Cell, Cells, Pull};
use crate::graph::NodeNo;
use crate::known::Abstract;
use crate::plan::{
    Body, Claim, Condition, Direction, Held, Instruction, Latch, Mode, Place, Read, Region, Retimed, Right,
    SlotId, SlotSource, Step, Store, Sweep, Tracker, Unit, ZoneEnd, ZoneId,
};
use crate::region::{Draft, order_within, tracks};
use crate::sweeps::StepKind;
use crate::system::{ClockNo, Def, System};
use crate::units::{UnitDraft, UnitRun};
use crate::zones::{FIRST, INNER};

/// The reader of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// An instruction of a step.
    Step(usize),
    /// The code of a window of one cycle.
    Single,
    /// The code after all steps.
    After,
}

pub struct Coder<'a> {
    system: &'a System<'a>,
    draft: &'a Draft,
    cells: Cells<'a>,
    homes: &'a Homes,
    memory: &'a Storage,
    arrivals: &'a FxHashMap<VarId, Arrival>,
    /// The enclosing region.
    outer: Option<&'a Coder<'a>>,
    unit_of: FxHashMap<VarId, usize>,
}

impl<'a> Coder<'a> {
    pub fn new(
        system: &'a System<'a>,
        draft: &'a Draft,
        homes: &'a Homes,
        memory: &'a Storage,
        arrivals: &'a FxHashMap<VarId, Arrival>,
        outer: Option<&'a Coder<'a>>,
    ) -> Self {
        let mut unit_of = FxHashMap::default();
        for (number, unit) in draft.units.iter().enumerate() {
            unit_of.extend(unit.vars.iter().map(|var| (*var, number)));
        }
        Coder { system, draft, cells: draft.cells(system), homes, memory, arrivals, outer, unit_of }
    }

    pub fn region(&self) -> Region {
        let Draft { task, zones, schedule, .. } = self.draft;
        let polarity = |truth: bool| if truth { Polarity::On } else { Polarity::OnNot };
        let steps = schedule.steps.iter().enumerate().map(|(number, step)| match step {
            StepKind::Sweep(direction) => Step::Sweep(self.sweep(number, *direction)),
            StepKind::Unit(unit) => Step::Unit(self.unit(&self.draft.units[*unit])),
        });
        let single = zones.only().zip(&self.draft.single).map(|(zone, vars)| {
            let code = vars.iter().map(|var| self.instruction(From::Single, *var, zone)).collect();
            Body { code }
        });
        Region {
            clock: self.system.origin(task.shape.clock),
            activity: self.outer.map_or_else(Box::default, |outer| outer.activity(task.shape.clock)),
            guard: task.shape.guard.map(|(var, truth)| (var, polarity(truth))),
            mode: task.shape.mode,
            order: task.order,
            zones: zones.list.clone(),
            alternatives: zones.alternatives.clone(),
            steps: steps.collect(),
            checkpoints: Vec::new(),
            single: single.collect(),
            claims: self.claims(),
            held: self.held(),
            slots: self.slots(),
        }
    }

    fn claims(&self) -> Vec<Claim> {
        let mut claims = Vec::new();
        for var in self.system.flow.var_ids().filter(|var| self.cells.is_inside[var.index()]) {
            for zone in 0..self.draft.zones.len() {
                if let Abstract::Known(known) = self.draft.evaluation.get(var, zone) {
                    claims.push(Claim { var, zone: ZoneId::new(zone), value: known.immediate() });
                }
            }
        }
        claims
    }

    fn held(&self) -> Vec<Held> {
        let held = self.draft.held.iter();
        let mut held: Vec<Held> = held
            .map(|(var, entry)| {
                let spot = if entry.end == ZoneEnd::First { Spot::First } else { Spot::Last };
                let scalar = self.homes.scalars[&(entry.var, spot)];
                Held { var: *var, entry: (entry.var, entry.end), scalar, open: entry.open.clone() }
            })
            .collect();
        held.sort_unstable_by_key(|held| held.var);
        held
    }

    fn nodes_of(&self, step: usize, zone: usize) -> Vec<NodeNo> {
        let graph = &self.draft.graph;
        let is_here =
            |node: &NodeNo| self.draft.schedule.step_of[*node] == step && graph.nodes[*node].1 == zone;
        let nodes: Vec<NodeNo> = (0..graph.nodes.len()).filter(is_here).collect();
        let inside: FxHashSet<NodeNo> = nodes.iter().copied().collect();
        let order = order_within(&nodes, |node| {
            let here =
                graph.edges[node].iter().filter(|(to, pull)| *pull == Pull::Here && inside.contains(to));
            here.map(|(to, _)| *to).collect()
        });
        order.expect("a sweep has no cells that depend on each other within a cycle")
    }

    fn sweep(&self, step: usize, direction: Direction) -> Sweep {
        let zones = &self.draft.zones;
        let mut bodies: Vec<Body> = vec![Body::default(); zones.len()];
        let mut trackers: Vec<Tracker> = Vec::new();
        let mut latches = Vec::new();
        for zone in zones.long() {
            if zone == INNER {
                for var in self
                    .homes
                    .repeats
                    .of_step
                    .get(&step)
                    .into_iter()
                    .flatten()
                    .filter(|_| self.outer.is_none())
                {
                    let mut instruction = self.instruction(From::Step(step), *var, zone);
                    (instruction.store, instruction.is_repeated) = (Vec::new(), true);
                    bodies[zone].code.push(instruction);
                }
            }
            for node in self.nodes_of(step, zone) {
                let (var, _) = self.draft.graph.nodes[node];
                bodies[zone].code.push(self.instruction(From::Step(step), var, zone));
                if tracks(&self.cells, (var, zone)).is_some()
                    && trackers.iter().all(|tracker| tracker.shift != var)
                {
                    trackers.push(self.tracker(step, var));
                }
                if let (INNER, Some(scalar)) = (zone, self.homes.scalars.get(&(var, Spot::Inner))) {
                    latches.push(Latch { var, scalar: *scalar });
                }
            }
        }
        let is_straight = !self.draft.is_loop[step];
        let neighbours = neighbours(&bodies);
        Sweep { direction, is_straight, bodies, trackers, latches, neighbours }
    }

    fn tracker(&self, step: usize, shift: VarId) -> Tracker {
        let (is_forward, next) = match *self.system.def(shift) {
            Def::Fby { next, .. } => (true, next),
            Def::Ahead { next, .. } => (false, next),
            _ => unreachable!("only delays are tracked"),
        };
        let zones = &self.draft.zones;
        let read = |zone: usize| {
            let is_passed = if is_forward {
                zone == FIRST || zone == INNER
            } else {
                zone == INNER || zones.last().contains(&zone)
            };
            let place = if is_passed {
                self.place_of_cell(From::Step(step), next, zone, Pull::Here)
            } else {
                Place::Absent
            };
            Read::Here(next, place)
        };
        Tracker { shift, next: (0..zones.len()).map(read).collect() }
    }

    fn unit(&self, unit: &UnitDraft) -> Unit {
        match &unit.run {
            UnitRun::Nested(draft) => {
                let inner =
                    Coder::new(self.system, draft, self.homes, self.memory, self.arrivals, Some(self));
                Unit::Nested(Box::new(inner.region()))
            }
            UnitRun::Retimed(lags, clock) => {
                let is_carried = |var: VarId| self.draft.liveness.carried.binary_search(&var).is_ok();
                let site = Site {
                    clock: *clock,
                    outputs: &[],
                    waits_for_all: false,
                    outside: &|var| self.outside(var, INNER),
                    slot: &|var| self.memory.slot_of(var).filter(|_| is_carried(var)),
                    is_given: &|_| false,
                    is_always_unknown: &|_| false,
                };
                let lagged = lagged(self.system, lags, &site);
                let stores =
                    unit.vars.iter().filter_map(|var| Some((*var, *self.homes.buffers.get(var)?))).collect();
                let mut slots = Vec::new();
                for var in unit.vars.iter().filter(|var| is_carried(**var)) {
                    let (Some(slot), Def::Fby { next, .. }) =
                        (self.memory.slot_of(*var), self.system.def(*var))
                    else {
                        continue;
                    };
                    let lag = lags.order.iter().find(|(other, _)| other == next).map(|(_, lag)| *lag);
                    let place = match lag {
                        Some(lag) => Place::Ring(lagged.max_lag - lag),
                        None => self.outside(*next, INNER),
                    };
                    slots.push((slot, Read::Here(*next, place)));
                }
                let mut lagged = lagged;
                for (_, read) in &slots {
                    if let Read::Here(var, Place::Ring(age)) = read {
                        keep(&mut lagged.rings, *var, *age);
                    }
                }
                Unit::Retimed(Retimed {
                    clock: self.system.origin(*clock),
                    activity: self.activity(*clock),
                    lagged,
                    stores,
                    slots,
                })
            }
        }
    }

    /// When a clock below that of this region is active.
    fn activity(&self, clock: ClockNo) -> Box<[Condition]> {
        let conditions = self.system.conditions_below(clock, self.cells.shape.clock).into_iter();
        let condition = |(condition, truth): (VarId, bool)| Condition {
            read: Read::Here(condition, self.outside(condition, INNER)),
            polarity: if truth { Polarity::On } else { Polarity::OnNot },
        };
        conditions.map(condition).collect()
    }

    /// The slots that this region writes: those of its own delays and, for windows of one cycle, those of its
    /// units.
    fn slots(&self) -> Vec<(SlotId, SlotSource)> {
        let mut slots = Vec::new();
        for shift in &self.draft.liveness.carried {
            let Some(slot) = self.memory.slot_of(*shift) else { continue };
            let (Def::Fby { next, .. } | Def::Ahead { next, .. }) = *self.system.def(*shift) else {
                continue;
            };
            let is_own = !self.unit_of.contains_key(shift);
            let mut zones = self.cells.carried_zones(*shift);
            zones.retain(|zone| is_own || self.draft.zones.only().contains(zone));
            // The last cycle comes first, or the first one in a backward unit.
            let rank = |zone: &usize| match (*zone, self.draft.task.order) {
                (FIRST, Direction::Forward) => 2,
                (INNER, _) => 1,
                (FIRST, Direction::Backward) => 0,
                (_, Direction::Forward) => 0,
                (_, Direction::Backward) => 2,
            };
            zones.sort_by_key(rank);
            let places = zones
                .into_iter()
                .map(|zone| (ZoneId::new(zone), self.place(From::After, next, zone, Pull::Here)));
            slots.push((slot, SlotSource { places: places.collect() }));
        }
        slots
    }

    /// The code that outputs results after all steps.
    pub fn emit(&self, outputs: &[VarId]) -> Vec<Body> {
        let body =
            |zone: usize| Body { code: outputs.iter().map(|output| self.emission(*output, zone)).collect() };
        (0..self.draft.zones.len()).map(body).collect()
    }

    fn emission(&self, output: VarId, zone: usize) -> Instruction {
        let place = self.place(From::After, output, zone, Pull::Here);
        // A stored cell carries its own presence.
        let clock = match place {
            Place::Immediate(_) => self.conditions(From::After, output, zone),
            _ => Box::default(),
        };
        let right = Right::Copy(Read::Here(output, place));
        Instruction { var: output, clock, right, store: Vec::new(), is_repeated: false }
    }

    fn conditions(&self, from: From, var: VarId, zone: usize) -> Box<[Condition]> {
        let condition = |(condition, truth): (VarId, bool)| Condition {
            read: self.here(from, condition, zone),
            polarity: if truth { Polarity::On } else { Polarity::OnNot },
        };
        self.cells.conditions(var, zone).into_iter().map(condition).collect()
    }

    fn here(&self, from: From, var: VarId, zone: usize) -> Read {
        Read::Here(var, self.place(from, var, zone, Pull::Here))
    }

    /// The place of a cell outside of this region.
    fn outside(&self, var: VarId, zone: usize) -> Place {
        if let Some(buffer) = self.homes.buffers.get(&var) {
            return Place::Buffer(*buffer);
        }
        match self.arrivals.get(&var) {
            Some(arrival) => arrival_place(arrival, zone),
            None => Place::Nowhere,
        }
    }

    /// The place of a cell for a reader of its value, at the same or an adjacent cycle.
    fn place(&self, from: From, var: VarId, zone: usize, pull: Pull) -> Place {
        match self.draft.evaluation.get(var, zone) {
            Abstract::Known(known) if from != From::After || !self.is_written(var, zone) => {
                Place::Immediate(known.immediate())
            }
            _ => self.place_of_cell(from, var, zone, pull),
        }
    }

    /// The place of a cell for a reader that also needs its presence: known cells whose presence matters are
    /// materialised.
    fn place_of_cell(&self, from: From, var: VarId, zone: usize, pull: Pull) -> Place {
        if *self.draft.evaluation.get(var, zone) == Abstract::Absent {
            return Place::Absent;
        }
        if !self.cells.is_inside[var.index()] {
            return self.outside(var, zone);
        }
        if from == From::Single {
            return Place::Local;
        }
        let number = self.draft.graph.number(var, zone);
        if number.is_none()
            && zone == INNER
            && let Some(entry) = self.draft.held.get(&var)
        {
            let spot = if entry.end == ZoneEnd::First { Spot::First } else { Spot::Last };
            return Place::Scalar(self.homes.scalars[&(entry.var, spot)]);
        }
        if let From::Step(step) = from {
            let is_repeated = zone == INNER
                && self.outer.is_none()
                && self.homes.repeats.of_step.get(&step).is_some_and(|vars| vars.contains(&var));
            if is_repeated {
                return Place::Local;
            }
            if number.is_some_and(|number| self.draft.schedule.step_of[number] == step) {
                return if pull == Pull::Here { Place::Local } else { Place::Neighbour };
            }
        }
        if let Some(buffer) = self.homes.buffers.get(&var) {
            return Place::Buffer(*buffer);
        }
        let spot = Spot::of(self.draft.zones.list[zone]);
        self.homes.scalars.get(&(var, spot)).map_or(Place::Nowhere, |scalar| Place::Scalar(*scalar))
    }

    /// Whether a known cell is materialised.
    fn is_written(&self, var: VarId, zone: usize) -> bool {
        self.draft.materialised.contains(&(var, zone)) && self.cells.is_inside[var.index()]
    }

    fn instruction(&self, from: From, var: VarId, zone: usize) -> Instruction {
        let is_absent = *self.draft.evaluation.get(var, zone) == Abstract::Absent;
        let clock = if is_absent { Box::default() } else { self.conditions(from, var, zone) };
        let right = self.right(from, var, zone);
        Instruction { var, clock, right, store: self.stores(var, zone), is_repeated: false }
    }

    fn stores(&self, var: VarId, zone: usize) -> Vec<Store> {
        let mut stores = Vec::new();
        stores.extend(self.homes.buffers.get(&var).map(|buffer| Store::Buffer(*buffer)));
        let spot = Spot::of(self.draft.zones.list[zone]);
        if spot != Spot::Inner {
            stores.extend(self.homes.scalars.get(&(var, spot)).map(|scalar| Store::Scalar(*scalar)));
        }
        stores
    }

    fn right(&self, from: From, var: VarId, zone: usize) -> Right {
        match self.draft.evaluation.get(var, zone) {
            Abstract::Known(known) => {
                return Right::Copy(Read::Here(var, Place::Immediate(known.immediate())));
            }
            Abstract::Absent => return Right::Copy(Read::Here(var, Place::Absent)),
            Abstract::Top | Abstract::Unset => {}
        }
        if zone == INNER
            && let Some(entry) = self.draft.held.get(&var)
        {
            let spot = if entry.end == ZoneEnd::First { Spot::First } else { Spot::Last };
            return Right::Copy(Read::Here(entry.var, Place::Scalar(self.homes.scalars[&(entry.var, spot)])));
        }
        match self.system.def(var) {
            Def::Input | Def::Known(_) | Def::Materialised(_) | Def::Absent => {
                unreachable!("only equations are computed")
            }
            Def::Copy(operand) => Right::Copy(self.here(from, *operand, zone)),
            Def::Apply(_, operands) => {
                Right::Apply(operands.iter().map(|operand| self.here(from, *operand, zone)).collect())
            }
            Def::Choice { condition, yes, no } => match self.cells.branch(*condition, *yes, *no, zone) {
                Some(branch) => Right::Copy(self.here(from, branch, zone)),
                None => Right::Choice {
                    condition: self.here(from, *condition, zone),
                    yes: self.here(from, *yes, zone),
                    no: self.here(from, *no, zone),
                },
            },
            Def::Fby { init, next } => self.fby(from, var, zone, *init, *next),
            Def::Ahead { init, next } => self.ahead(from, var, zone, *init, *next),
        }
    }

    fn fby(&self, from: From, var: VarId, zone: usize, init: VarId, next: VarId) -> Right {
        let is_start = self.draft.zones.is_start(zone);
        let is_sampled = !self.cells.is_on_clock(var);
        if is_start || is_sampled {
            let slot =
                if self.draft.task.order == Direction::Forward { self.memory.slot_of(var) } else { None };
            let init = self.here(from, init, zone);
            return match (slot, is_sampled && !is_start) {
                (None, false) => Right::Copy(init),
                (slot, is_tracked) => Right::Carried { slot, init, is_tracked },
            };
        }
        let place = |zone: usize| self.place(from, next, zone, Pull::Past);
        Right::Copy(Read::Before { var: next, first: place(FIRST), inner: place(INNER) })
    }

    fn ahead(&self, from: From, var: VarId, zone: usize, init: Option<VarId>, next: VarId) -> Right {
        let is_end = self.draft.zones.is_end(zone);
        let is_sampled = !self.cells.is_on_clock(var);
        let is_trace = self.draft.task.shape.mode == Mode::Trace;
        let slot = if self.draft.task.order == Direction::Backward { self.memory.slot_of(var) } else { None };
        let has_init = is_end || is_sampled || !is_trace;
        let init = init.filter(|_| has_init).map(|init| self.here(from, init, zone));
        if is_sampled && !is_end {
            return Right::Tracked { slot, init };
        }
        let place = |zone: usize| self.place(from, next, zone, Pull::Future);
        let next = (!is_end).then(|| Read::After {
            var: next,
            inner: place(INNER),
            last: self.draft.zones.last().map(place).collect(),
        });
        Right::Ahead { slot, next, init }
    }
}

/// Streams that are read at the previous iteration.
pub fn neighbours(bodies: &[Body]) -> Vec<VarId> {
    let mut found = Vec::new();
    for read in bodies.iter().flat_map(|body| &body.code).flat_map(Region::reads) {
        let is_neighbour = match read {
            Read::Here(..) => false,
            Read::Before { first, inner, .. } => *first == Place::Neighbour || *inner == Place::Neighbour,
            Read::After { inner, last, .. } => *inner == Place::Neighbour || last.contains(&Place::Neighbour),
        };
        if is_neighbour {
            found.push(read.var());
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Makes a ring long enough.
fn keep(rings: &mut Vec<crate::plan::Ring>, var: VarId, age: usize) {
    match rings.iter_mut().find(|ring| ring.var == var) {
        Some(ring) => ring.slots = ring.slots.max(age + 1),
        None if age > 0 => rings.push(crate::plan::Ring { var, slots: age + 1 }),
        None => {}
    }
}

/// Cells that are read to emit outputs: the clock conditions of outputs whose value is known.
pub fn emission_reads(cells: &Cells<'_>, draft: &Draft, outputs: &[VarId]) -> Vec<Cell> {
    let mut found = Vec::new();
    for output in outputs {
        for zone in 0..draft.zones.len() {
            if draft.evaluation.get(*output, zone).known().is_some()
                && !draft.materialised.contains(&(*output, zone))
            {
                found.extend(
                    cells.conditions(*output, zone).into_iter().map(|(condition, _)| (condition, zone)),
                );
            }
        }
    }
    found
}
