//! Windows of time and the sweeps over them (sections 4 to 7).
//!
//! A window is a stretch of activations of a clock. Its cycles lie in *zones*: `F` the first, `L` the last, `I` those between; a
//! window of one cycle is zone `O`. In each zone equations are specialised, since the condition that ends windows is known there.
//! A few *steps* run over the window: sweeps, forwards or backwards, and units.
//!
//! **The open window** at the end of the trace is run by the same steps with zones `F` and `I` only (`F` alone if it has one
//! cycle): `post` beyond its end is unknown, `fby back` is its initial value, and no state is carried out of it.

use eddy_flow::clocks::ClockId;
use eddy_flow::{Polarity, VarId};

use super::code::{Body, BufferId, Condition, Immediate, Instruction, Place, Read, ScalarId, SlotId};
use super::{Checkpoint, Closing, Lagged, NoCheckpoint};

/// A plan by windows.
#[derive(Clone, Debug)]
pub struct Windows {
    /// Where windows end.
    pub cut: Cut,
    /// What runs before the window, cycle by cycle: all that must be known to see where it ends, and look-ahead that is bounded. The
    /// window `[a, b]` runs when this loop has computed all of its streams at `b`, `max_lag` iterations after `b` arrived.
    pub prelude: Lagged,
    /// Inputs and results of the prelude that the window reads, and where they are put when they arrive.
    pub arrivals: Vec<Arrival>,
    /// The code: one version, or two where a condition is assumed to be constant in the window (section 8).
    pub versions: Vec<Version>,
    /// State that crosses windows; all versions have the same slots.
    pub carried: Vec<Carried>,
    /// All buffers, those of nested units too; each has an entry for each cycle of the outermost window.
    pub buffers: Vec<Buffer>,
    /// All single variables.
    pub scalars: Vec<Scalar>,
    /// How many numbers per cycle steps would hand to each other if nothing were computed again.
    pub n_between_before: usize,
    /// Why there are no checkpoints that were asked for.
    pub no_checkpoints: Vec<NoCheckpoint>,
}

/// One version of the code of a window.
#[derive(Clone, Debug)]
pub struct Version {
    /// The condition that has this value at all cycles of the window; none if there is one version only.
    pub assumes: Option<(VarId, bool)>,
    /// The code.
    pub region: Region,
    /// For each zone of the region where the outputs are when all steps have run: instructions that are executed for each cycle, in
    /// cycle order, and whose results are shown.
    pub emit: Vec<Body>,
}

/// Where windows end.
#[derive(Clone, Debug)]
pub enum Cut {
    /// Where a condition has a value.
    Guard(VarId, Polarity),
    /// Where nothing that is needed waits for a later cycle.
    Derived(Box<Closing>),
    /// At the end of the trace only.
    Trace,
}

/// What a window is to those that look at its ends (section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// It ends where a condition has a value.
    Guard,
    /// It ends where nothing waits; it has no zones L and O.
    Cut,
    /// It is the whole trace.
    Trace,
}

/// Which way a sweep goes through a window, or a unit through its windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the first cycle to the last.
    Forward,
    /// From the last cycle to the first.
    Backward,
}

/// Code for windows of a clock.
#[derive(Clone, Debug)]
pub struct Region {
    /// The clock whose activations are the cycles of the window.
    pub clock: ClockId,
    /// When that is active, among the cycles of the window around this region; empty if always.
    pub activity: Box<[Condition]>,
    /// The condition that ends windows, on that clock.
    pub guard: Option<(VarId, Polarity)>,
    /// What is known at the ends.
    pub mode: Mode,
    /// In which order windows are taken; only units inside other windows go backwards.
    pub order: Direction,
    /// The zones: F, I, the alternatives of L, those of O. Bodies are listed in this order.
    pub zones: Vec<Zone>,
    /// How one alternative of L, and of O, is chosen; empty if there is one only.
    pub alternatives: Vec<Alternative>,
    /// What runs over a window of two or more cycles, and over an open one; in mode [`Mode::Cut`] over every window.
    pub steps: Vec<Step>,
    /// Loops forwards that are run again; only in the outermost region.
    pub checkpoints: Vec<Checkpoint>,
    /// What runs for a window of one cycle: a body for each zone O.
    pub single: Vec<Body>,
    /// Cells that are known without computing them.
    pub claims: Vec<Claim>,
    /// Cells that are the same at all inner cycles.
    pub held: Vec<Held>,
    /// The slots that are written when a window of this region was run and is closed; in units that go backwards, also if it is open.
    pub slots: Vec<(SlotId, Source)>,
}

/// A zone of a region, by its position in the list of zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ZoneId(pub usize);

/// Where in its window a cycle lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Zone {
    /// The first cycle of a window of at least two.
    First,
    /// Neither the first nor the last.
    Inner,
    /// The last cycle of a window of at least two, in an alternative.
    Last(usize),
    /// The only cycle of its window, in an alternative.
    Only(usize),
}

/// An alternative of the last zone: a guard that is an `or` is true because of one of its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// What holds at the last cycle in this alternative. The first alternative all of whose conditions hold is chosen.
    pub conditions: Vec<(VarId, bool)>,
}

/// One of the things that happen to a window, in order.
#[derive(Clone, Debug)]
pub enum Step {
    /// A loop over the cycles, or straight-line code.
    Sweep(Sweep),
    /// Streams that depend on each other in both directions, run as one.
    Unit(Unit),
}

/// A loop over the cycles of a window.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Which way it goes.
    pub direction: Direction,
    /// Whether there is nothing to do at inner cycles: then it is no loop, but the code of the first cycle and that of the last.
    pub is_straight: bool,
    /// Code for each zone; those of O are empty.
    pub bodies: Vec<Body>,
    /// Registers of delays on sampled clocks, started anew in each window.
    pub trackers: Vec<Tracker>,
    /// Streams whose last value in the window is needed afterwards.
    pub latches: Vec<Latch>,
    /// Streams that are read at [`Place::Neighbour`]: their register is kept for one iteration more.
    pub neighbours: Vec<VarId>,
}

/// The register of a delay on a sampled clock: at the end of each iteration in which its operand is there, it takes its value.
#[derive(Clone, Debug)]
pub struct Tracker {
    /// The delay.
    pub shift: VarId,
    /// Its operand in each zone.
    pub next: Vec<Read>,
}

/// The value of a stream at the last cycle of the zone I at which it is there, kept when the sweep is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latch {
    /// The stream, which this sweep computes in the zone I.
    pub var: VarId,
    /// Where it goes.
    pub scalar: ScalarId,
}

/// Streams that depend on each other in both directions (section 5).
#[derive(Clone, Debug)]
pub enum Unit {
    /// A loop over the window in which equations are late.
    Retimed(Retimed),
    /// Windows inside the window.
    Nested(Box<Region>),
}

/// A loop over the window in which equations are late; operands from outside are in buffers, at the index of their cycle.
#[derive(Clone, Debug)]
pub struct Retimed {
    /// The clock of all its streams; the loop is over its activations in the window.
    pub clock: ClockId,
    /// When that is active; empty if always.
    pub activity: Box<[Condition]>,
    /// The loop.
    pub lagged: Lagged,
    /// Where results go that are read elsewhere: all cells of the stream.
    pub stores: Vec<(VarId, BufferId)>,
    /// The slots that are written when the window was run and is closed: with the operand at the last activation, which is in a ring
    /// at the end of the loop, or in a buffer. They stay as they were if there was no activation.
    pub slots: Vec<(SlotId, Read)>,
}

/// An input or a result of the prelude, as it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The stream.
    pub var: VarId,
    /// The buffer that it is appended to; none if no inner cycle is read.
    pub buffer: Option<BufferId>,
    /// Where its value at the first cycle of the window is kept, if there is no buffer.
    pub first: Option<ScalarId>,
    /// Where its value at the latest cycle is kept, if there is no buffer.
    pub last: Option<ScalarId>,
}

/// A buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The streams that it holds, one after the other: a stream has it from the step that writes it to the last one that reads it.
    pub vars: Vec<VarId>,
    /// What it is for.
    pub role: BufferRole,
    /// Whether a step reads what another one wrote.
    pub is_between_steps: bool,
    /// Whether it has entries for the cycles of one chunk only; see [`Checkpoint`].
    pub is_chunked: bool,
}

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferRole {
    /// An input, or a result of the prelude.
    Arrival,
    /// One step writes it, another reads it.
    Sweeps,
    /// An output waits in it; steps may read it too.
    Output,
}

/// A single variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The stream whose value it has.
    pub var: VarId,
    /// In which zone; I stands for the last inner cycle at which the stream is there.
    pub zone: Zone,
}

/// State that crosses windows: the value of a `fby` at its first activation in the next window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The `fby`, or in units that go backwards the `post` or `fby back`. Slots of the latter are cleared when their unit starts.
    pub shift: VarId,
    /// Its operand.
    pub next: VarId,
}

/// Where the value of a slot is when all steps have run.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The places to look at, one for each zone that the window has, in this order; the first cell that is there is taken. The slot
    /// stays as it was if none is. For the zone I, a scalar is the latch, and in a buffer the cells from the last one to the first
    /// are looked at (from the first one to the last in units that go backwards).
    pub places: Vec<(ZoneId, Place)>,
}

/// A cell that is known without computing it (section 4).
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The stream.
    pub var: VarId,
    /// The zone.
    pub zone: ZoneId,
    /// Its value wherever it is there.
    pub value: Immediate,
}

/// A stream that has the same value at all inner cycles (section 6): that of the cell it enters from.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The stream.
    pub var: VarId,
    /// The cell that it enters from, at the first cycle or at the last one.
    pub entry: (VarId, ZoneEnd),
    /// Where that cell is kept.
    pub scalar: ScalarId,
    /// What it is in the open window, if it enters from the last cycle.
    pub open: OpenEntry,
}

/// An end of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZoneEnd {
    /// F.
    First,
    /// L.
    Last,
}

/// The value that is held in an open window.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenEntry {
    /// As in any other window: it enters from the first cycle.
    Same,
    /// Unknown: it is a `post` of what comes after the end.
    Unknown,
    /// The initial value of a `fby back`.
    Init(Immediate),
}

impl Region {
    /// The position of a zone.
    pub fn zone_id(&self, zone: Zone) -> Option<ZoneId> {
        self.zones.iter().position(|other| *other == zone).map(ZoneId)
    }

    /// The reads of all conditions and operands of an instruction.
    pub fn reads(instruction: &Instruction) -> impl Iterator<Item = &Read> {
        let conditions = instruction.clock.iter().map(|condition| &condition.read);
        conditions.chain(instruction.right.reads())
    }
}
