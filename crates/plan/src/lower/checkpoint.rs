//! Checkpoints (section 7): which loops forwards run again rather than keep what they compute.
//!
//! A loop can run again from its registers if it reads only what is there anyway: inputs, single values, held values. What it keeps
//! is then needed for one chunk at a time, if one loop backwards alone reads it.

use eddy_flow::VarId;
use rustc_hash::FxHashSet;

use super::region::neighbours;
use crate::plan::{
    Body, Buffer, BufferId, BufferRole, Checkpoint, Direction, NoCheckpoint, Place, Read, Region, Step,
    Store, Sweep,
};
use crate::zones::{FIRST, INNER};

/// A loop forwards, the loop backwards that reads what it keeps, and that.
pub struct Pair {
    forward: usize,
    backward: usize,
    buffers: Vec<(VarId, BufferId)>,
}

impl Pair {
    /// The streams that are kept for one chunk at a time.
    pub fn streams(&self) -> impl Iterator<Item = VarId> {
        self.buffers.iter().map(|(var, _)| *var)
    }
}

/// The loops that can run again, and why others cannot.
pub fn pairs(region: &Region, emit: &[Body], buffers: &[Buffer]) -> (Vec<Pair>, Vec<NoCheckpoint>) {
    let sweep = |step: &Step| match step {
        Step::Sweep(sweep) => Some(sweep.clone()),
        Step::Unit(_) => None,
    };
    let sweeps: Option<Vec<Sweep>> = region.steps.iter().map(sweep).collect();
    let Some(sweeps) = sweeps else { return (Vec::new(), vec![NoCheckpoint::Units]) };
    let uses = Uses::new(region, &sweeps, emit);
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for (step, sweep) in sweeps.iter().enumerate() {
        if sweep.direction != Direction::Forward || sweep.is_straight {
            continue;
        }
        let is_kept = |(_, buffer): &(VarId, BufferId)| {
            buffers[buffer.0].role == BufferRole::Sweeps && uses.readers[buffer.0].is_some()
        };
        let kept: Vec<(VarId, BufferId)> = stores(sweep).into_iter().filter(is_kept).collect();
        if kept.is_empty() {
            continue;
        }
        let mut reads = reads(sweep).flat_map(places);
        let outside =
            reads.find(|(_, buffer)| buffers[buffer.0].role != BufferRole::Arrival).map(|(var, _)| var);
        if let Some(var) = outside {
            refused.push(NoCheckpoint::Reads(step, var));
            continue;
        }
        let reader = |buffer: BufferId| match (uses.readers[buffer.0], uses.writers[buffer.0]) {
            (Some(Use::Step(reader)), Some(Use::Step(writer))) if writer == step && reader > step => {
                let is_loop_back =
                    sweeps[reader].direction == Direction::Backward && !sweeps[reader].is_straight;
                is_loop_back.then_some(reader)
            }
            _ => None,
        };
        let backward = kept.iter().find_map(|(_, buffer)| reader(*buffer));
        let (own, others): (Vec<_>, Vec<_>) =
            kept.into_iter().partition(|(_, buffer)| backward.is_some() && reader(*buffer) == backward);
        refused.extend(others.into_iter().map(|(var, _)| NoCheckpoint::Shared(step, var)));
        if let Some(backward) = backward {
            found.push(Pair { forward: step, backward, buffers: own });
        }
    }
    if found.is_empty() && refused.is_empty() {
        refused.push(NoCheckpoint::NoLoops);
    }
    (found, refused)
}

/// Makes the loops run again.
pub fn split(region: &mut Region, pairs: Vec<Pair>, buffers: &mut [Buffer]) {
    for Pair { forward, backward, buffers: own } in pairs {
        let own: Vec<BufferId> = own.into_iter().map(|(_, buffer)| buffer).collect();
        let is_own = |store: &Store| matches!(store, Store::Buffer(buffer) if own.contains(buffer));
        for instruction in region.single.iter_mut().flat_map(|body| &mut body.code) {
            instruction.store.retain(|store| !is_own(store));
        }
        let [behind, ahead] = match &region.steps[backward] {
            Step::Sweep(sweep) => beyond(sweep, &own),
            Step::Unit(_) => unreachable!("a loop backwards is a sweep"),
        };
        let Step::Sweep(first) = &mut region.steps[forward] else {
            unreachable!("a loop forwards is a sweep")
        };
        let mut again = first.clone();
        again.latches.clear();
        retain_stores(&mut again, is_own);
        retain_stores(first, |store| !is_own(store));
        let behind_vars: Vec<VarId> = behind.iter().map(|(var, _)| *var).collect();
        keep_needed(&mut again, &behind_vars);
        let registers = put_aside(&again, behind_vars);
        keep_needed(first, &registers);
        for buffer in &own {
            buffers[buffer.0].is_chunked = true;
        }
        region.checkpoints.push(Checkpoint {
            forward,
            backward,
            again,
            registers,
            buffers: own,
            behind,
            ahead,
        });
    }
}

/// What a loop starts from when it runs again: what is read of the inner cycle before.
fn put_aside(again: &Sweep, behind: Vec<VarId>) -> Vec<VarId> {
    let mut registers = behind;
    for read in reads(again) {
        if let Read::Before { var, inner: Place::Neighbour, .. } = read {
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

/// Takes away what nobody needs any more: neither what is stored, nor these registers, nor what either of them is computed from.
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

/// The cells in registers that someone in a zone reads, in a loop forwards.
fn in_registers(read: &Read, zone: usize) -> Vec<(VarId, usize)> {
    match read {
        Read::Here(var, Place::Local) => vec![(*var, zone)],
        Read::Before { var, first, inner } => {
            let places = [(first, FIRST), (inner, INNER)].into_iter();
            let neighbours = places.filter(|(place, _)| **place == Place::Neighbour);
            neighbours.map(|(_, zone)| (*var, zone)).collect()
        }
        Read::Here(..) | Read::After { .. } => Vec::new(),
    }
}

/// Which of these buffers a loop reads at the cycle before, and at the cycle after.
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

/// Who uses a buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Step(usize),
    /// Several steps, or what comes after all of them.
    Others,
}

/// Who reads and writes each buffer.
struct Uses {
    readers: Vec<Option<Use>>,
    writers: Vec<Option<Use>>,
}

impl Uses {
    fn new(region: &Region, sweeps: &[Sweep], emit: &[Body]) -> Uses {
        let mut uses = Uses { readers: Vec::new(), writers: Vec::new() };
        for (step, sweep) in sweeps.iter().enumerate() {
            for (_, buffer) in reads(sweep).flat_map(places) {
                note(&mut uses.readers, buffer, Use::Step(step));
            }
            for (_, buffer) in stores(sweep) {
                note(&mut uses.writers, buffer, Use::Step(step));
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
        let n = uses.readers.len().max(uses.writers.len());
        uses.readers.resize(n, None);
        uses.writers.resize(n, None);
        uses
    }
}

fn note(uses: &mut Vec<Option<Use>>, buffer: BufferId, by: Use) {
    if uses.len() <= buffer.0 {
        uses.resize(buffer.0 + 1, None);
    }
    let known = &mut uses[buffer.0];
    *known = Some(if known.is_none_or(|known| known == by) { by } else { Use::Others });
}

fn reads(sweep: &Sweep) -> impl Iterator<Item = &Read> {
    let code = sweep.bodies.iter().flat_map(|body| &body.code).flat_map(Region::reads);
    code.chain(sweep.trackers.iter().flat_map(|tracker| &tracker.next))
}

/// The buffers that a read may look at.
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
