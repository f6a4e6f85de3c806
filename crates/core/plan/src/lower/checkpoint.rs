//! Checkpoints (section 7): which loops run again instead of storing their results.
//!
//! A loop can run again from its registers if it reads only values that are available in any case: inputs,
//! scalars, held values. Its results are then stored for one chunk at a time, provided that a single loop in
//! the other direction reads them.

use eddy_flow::VarId;
use rustc_hash::FxHashSet;

use super::region::neighbours;
use crate::plan::{
    Body, Buffer, BufferId, BufferRole, Checkpoint, Direction, Instruction, NoCheckpoint, Place, Read,
    Region, Step, Store, Sweep, Unit,
};
use crate::zones::{FIRST, INNER};

/// A loop, the loop in the other direction that reads its results, and the buffers of these results.
pub struct Pair {
    writer: usize,
    reader: usize,
    buffers: Vec<(VarId, BufferId)>,
}

impl Pair {
    /// The streams that are stored for one chunk at a time.
    pub fn streams(&self) -> impl Iterator<Item = VarId> {
        self.buffers.iter().map(|(var, _)| *var)
    }
}

/// The loops that can run again, and the reasons why others cannot.
pub fn pairs(region: &Region, emit: &[Body], buffers: &[Buffer]) -> (Vec<Pair>, Vec<NoCheckpoint>) {
    let sweep = |step: &Step| match step {
        Step::Sweep(sweep) => Some(sweep.clone()),
        Step::Unit(_) => None,
    };
    let sweeps: Vec<Option<Sweep>> = region.steps.iter().map(sweep).collect();
    let uses = Uses::new(region, emit, buffers);
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    if sweeps.iter().any(Option::is_none) {
        refused.push(NoCheckpoint::Units);
    }
    for (step, sweep) in sweeps.iter().enumerate() {
        let Some(sweep) = sweep.as_ref().filter(|sweep| !sweep.is_straight) else { continue };
        let is_kept = |(_, buffer): &(VarId, BufferId)| {
            buffers[buffer.index()].role == BufferRole::Sweeps && uses.readers[buffer.index()].is_some()
        };
        let kept: Vec<(VarId, BufferId)> = stores(sweep).into_iter().filter(is_kept).collect();
        if kept.is_empty() {
            continue;
        }
        let mut reads = reads(sweep).flat_map(places);
        let outside =
            reads.find(|(_, buffer)| buffers[buffer.index()].role != BufferRole::Arrival).map(|(var, _)| var);
        if let Some(var) = outside {
            refused.push(NoCheckpoint::Reads(step, var));
            continue;
        }
        let reader = |buffer: BufferId| match (uses.readers[buffer.index()], uses.writers[buffer.index()]) {
            (Some(Use::Step(reader)), Some(Use::Step(writer))) if writer == step && reader > step => {
                let is_loop_back = |other: &Sweep| other.direction != sweep.direction && !other.is_straight;
                sweeps[reader].as_ref().is_some_and(is_loop_back).then_some(reader)
            }
            _ => None,
        };
        let chosen = kept.iter().find_map(|(_, buffer)| reader(*buffer));
        let (own, others): (Vec<_>, Vec<_>) =
            kept.into_iter().partition(|(_, buffer)| chosen.is_some() && reader(*buffer) == chosen);
        refused.extend(others.into_iter().map(|(var, _)| NoCheckpoint::Shared(step, var)));
        if let Some(reader) = chosen {
            found.push(Pair { writer: step, reader, buffers: own });
        }
    }
    if found.is_empty() && refused.is_empty() {
        refused.push(NoCheckpoint::NoLoops);
    }
    (found, refused)
}

/// Adds checkpoints, so that these loops run again.
pub fn split(region: &mut Region, pairs: Vec<Pair>, buffers: &mut [Buffer]) {
    for Pair { writer, reader, buffers: own } in pairs {
        let own: Vec<BufferId> = own.into_iter().map(|(_, buffer)| buffer).collect();
        let is_own = |store: &Store| matches!(store, Store::Buffer(buffer) if own.contains(buffer));
        for instruction in region.single.iter_mut().flat_map(|body| &mut body.code) {
            instruction.store.retain(|store| !is_own(store));
        }
        let [before, after] = match &region.steps[reader] {
            Step::Sweep(sweep) => beyond(sweep, &own),
            Step::Unit(_) => unreachable!("units do not read chunk buffers"),
        };
        let Step::Sweep(first) = &mut region.steps[writer] else { unreachable!("units do not run again") };
        let (behind, ahead) = match first.direction {
            Direction::Forward => (before, after),
            Direction::Backward => (after, before),
        };
        let mut again = first.clone();
        again.latches.clear();
        retain_stores(&mut again, is_own);
        retain_stores(first, |store| !is_own(store));
        let behind_vars: Vec<VarId> = behind.iter().map(|(var, _)| *var).collect();
        keep_needed(&mut again, &behind_vars);
        let registers = saved_registers(&again, behind_vars);
        keep_needed(first, &registers);
        for buffer in &own {
            buffers[buffer.index()].is_chunked = true;
        }
        region.checkpoints.push(Checkpoint { writer, reader, again, registers, buffers: own, behind, ahead });
    }
}

/// The registers from which a loop starts again: those read from the previous inner cycle.
fn saved_registers(again: &Sweep, behind: Vec<VarId>) -> Vec<VarId> {
    let mut registers = behind;
    for read in reads(again) {
        if let Read::Before { var, inner: Place::Neighbour, .. }
        | Read::After { var, inner: Place::Neighbour, .. } = read
        {
            registers.push(*var);
        }
    }
    registers.sort_unstable();
    registers.dedup();
    registers
}

fn retain_stores(sweep: &mut Sweep, is_kept: impl Fn(&Store) -> bool) {
    for instruction in sweep.bodies.iter_mut().flat_map(|body| &mut body.code) {
        instruction.store.retain(|store| is_kept(store));
    }
}

/// Removes dead instructions: those on which neither a store nor one of these registers depends.
fn keep_needed(sweep: &mut Sweep, registers: &[VarId]) {
    let mut todo: Vec<(VarId, usize)> = Vec::new();
    for (zone, body) in sweep.bodies.iter().enumerate() {
        let stored = body.code.iter().filter(|instruction| !instruction.store.is_empty());
        todo.extend(stored.map(|instruction| (instruction.var, zone)));
        todo.extend(registers.iter().map(|var| (*var, zone)));
        todo.extend(sweep.trackers.iter().flat_map(|tracker| in_registers(&tracker.next[zone], zone)));
    }
    todo.extend(sweep.latches.iter().map(|latch| (latch.var, INNER)));
    let mut needed: FxHashSet<(VarId, usize)> = FxHashSet::default();
    while let Some((var, zone)) = todo.pop() {
        if needed.insert((var, zone)) {
            let own = sweep.bodies[zone].code.iter().filter(|instruction| instruction.var == var);
            todo.extend(own.flat_map(Region::reads).flat_map(|read| in_registers(read, zone)));
        }
    }
    for (zone, body) in sweep.bodies.iter_mut().enumerate() {
        body.code.retain(|instruction| needed.contains(&(instruction.var, zone)));
    }
    sweep.neighbours = neighbours(&sweep.bodies);
    sweep.neighbours.extend(registers);
    sweep.neighbours.sort_unstable();
    sweep.neighbours.dedup();
}

/// The cells in registers that `read` reads in a zone.
fn in_registers(read: &Read, zone: usize) -> Vec<(VarId, usize)> {
    let places: Vec<(&Place, usize)> = match read {
        Read::Here(var, Place::Local) => return vec![(*var, zone)],
        Read::Here(..) => Vec::new(),
        Read::Before { first, inner, .. } => vec![(first, FIRST), (inner, INNER)],
        Read::After { inner, last, .. } => {
            std::iter::once((inner, INNER)).chain(last.iter().zip(INNER + 1..)).collect()
        }
    };
    let neighbours = places.into_iter().filter(|(place, _)| **place == Place::Neighbour);
    neighbours.map(|(_, zone)| (read.var(), zone)).collect()
}

/// Which of these buffers a loop reads at the previous cycle, and which at the next.
fn beyond(sweep: &Sweep, own: &[BufferId]) -> [Vec<(VarId, BufferId)>; 2] {
    let (mut behind, mut ahead) = (Vec::new(), Vec::new());
    for read in reads(sweep) {
        let found = places(read).into_iter().filter(|(_, buffer)| own.contains(buffer));
        match read {
            Read::Here(..) => {}
            Read::Before { .. } => behind.extend(found),
            Read::After { .. } => ahead.extend(found),
        }
    }
    behind.sort_unstable();
    behind.dedup();
    ahead.sort_unstable();
    ahead.dedup();
    [behind, ahead]
}

/// The user of a buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Step(usize),
    /// Several steps, or the code after all steps.
    Others,
}

/// The readers and writers of each buffer.
struct Uses {
    readers: Vec<Option<Use>>,
    writers: Vec<Option<Use>>,
}

impl Uses {
    fn new(region: &Region, emit: &[Body], buffers: &[Buffer]) -> Uses {
        let mut uses = Uses { readers: vec![None; buffers.len()], writers: vec![None; buffers.len()] };
        for (step, of) in region.steps.iter().enumerate() {
            match of {
                Step::Sweep(sweep) => {
                    for (_, buffer) in reads(sweep).flat_map(places) {
                        note(&mut uses.readers, buffer, Use::Step(step));
                    }
                    for (_, buffer) in stores(sweep) {
                        note(&mut uses.writers, buffer, Use::Step(step));
                    }
                }
                Step::Unit(unit) => uses.all_of_unit(unit, buffers),
            }
        }
        let shown = emit.iter().flat_map(|body| &body.code).flat_map(Region::reads).flat_map(places);
        let carried = region.slots.iter().flat_map(|(_, source)| &source.places);
        let carried = carried.filter_map(|(_, place)| match place {
            Place::Buffer(buffer) => Some(*buffer),
            _ => None,
        });
        for buffer in shown.map(|(_, buffer)| buffer).chain(carried) {
            note(&mut uses.readers, buffer, Use::Others);
        }
        uses
    }

    /// Marks the buffers of all streams that a unit mentions as used by [`Use::Others`]: these streams are
    /// stored for all cycles.
    fn all_of_unit(&mut self, unit: &Unit, buffers: &[Buffer]) {
        let mut todo = vec![unit];
        let mut mentioned: FxHashSet<VarId> = FxHashSet::default();
        while let Some(unit) = todo.pop() {
            let (code, activity): (Vec<&Instruction>, _) = match unit {
                Unit::Retimed(retimed) => {
                    mentioned.extend(retimed.stores.iter().map(|(var, _)| *var));
                    mentioned.extend(retimed.slots.iter().map(|(_, read)| read.var()));
                    mentioned.extend(retimed.lagged.registers.iter().map(|register| register.next.var()));
                    let body = retimed.lagged.body.iter().map(|late| &late.instruction);
                    (body.collect(), &retimed.activity)
                }
                Unit::Nested(inner) => {
                    mentioned.extend(inner.guard.iter().map(|(guard, _)| *guard));
                    let conditions =
                        inner.alternatives.iter().flat_map(|alternative| &alternative.conditions);
                    mentioned.extend(conditions.map(|(var, _)| *var));
                    let mut code: Vec<&Instruction> =
                        inner.single.iter().flat_map(|body| &body.code).collect();
                    for step in &inner.steps {
                        match step {
                            Step::Unit(unit) => todo.push(unit),
                            Step::Sweep(sweep) => {
                                mentioned.extend(reads(sweep).map(Read::var));
                                code.extend(sweep.bodies.iter().flat_map(|body| &body.code));
                            }
                        }
                    }
                    (code, &inner.activity)
                }
            };
            mentioned.extend(activity.iter().map(|condition| condition.read.var()));
            mentioned.extend(code.iter().map(|instruction| instruction.var));
            mentioned.extend(code.into_iter().flat_map(Region::reads).map(Read::var));
        }
        for (number, buffer) in buffers.iter().enumerate() {
            if buffer.vars.iter().any(|var| mentioned.contains(var)) {
                note(&mut self.readers, BufferId::new(number), Use::Others);
                note(&mut self.writers, BufferId::new(number), Use::Others);
            }
        }
    }
}

fn note(uses: &mut [Option<Use>], buffer: BufferId, by: Use) {
    let known = &mut uses[buffer.index()];
    *known = Some(if known.is_none_or(|known| known == by) { by } else { Use::Others });
}

fn reads(sweep: &Sweep) -> impl Iterator<Item = &Read> {
    let code = sweep.bodies.iter().flat_map(|body| &body.code).flat_map(Region::reads);
    code.chain(sweep.trackers.iter().flat_map(|tracker| &tracker.next))
}

/// The buffers that a read may access.
fn places(read: &Read) -> Vec<(VarId, BufferId)> {
    let places: Vec<&Place> = match read {
        Read::Here(_, place) => vec![place],
        Read::Before { first, inner, .. } => vec![first, inner],
        Read::After { inner, last, .. } => std::iter::once(inner).chain(last).collect(),
    };
    let buffer = |place: &Place| match place {
        Place::Buffer(buffer) => Some((read.var(), *buffer)),
        _ => None,
    };
    places.into_iter().filter_map(buffer).collect()
}

/// The buffers that a loop writes.
fn stores(sweep: &Sweep) -> Vec<(VarId, BufferId)> {
    let code = sweep.bodies.iter().flat_map(|body| &body.code);
    let stores = code.flat_map(|instruction| instruction.store.iter().map(|store| (instruction.var, store)));
    let mut found: Vec<(VarId, BufferId)> = stores
        .filter_map(|(var, store)| match store {
            Store::Buffer(buffer) => Some((var, *buffer)),
            Store::Scalar(_) => None,
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
