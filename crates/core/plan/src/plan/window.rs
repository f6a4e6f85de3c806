//! Windows of time and the sweeps over them (sections 4 to 7).
//!
//! A window is a run of activations of a clock. Its cycles lie in *zones*: `F` is the first, `L` the last,
//! `I` are those between; a window of one cycle is zone `O`. In each zone equations are specialised, because
//! the condition that ends windows is known there. A few *steps* run over the window: sweeps, forwards or
//! backwards, and units.
//!
//! **The open window** at the end of the trace is executed by the same steps with zones `F` and `I` only (`F`
//! alone if it has one cycle): `post` beyond its end is unknown, `fby back` is its initial value, and no
//! state is carried out of it.

use eddy_flow::clocks::ClockId;
use eddy_flow::{Polarity, VarId};

use super::code::{Body, BufferId, Condition, Immediate, Instruction, Place, Read, ScalarId, SlotId};
use super::{Checkpoint, DerivedEnd, Lagged, NoCheckpoint};

/// A plan by windows.
#[derive(Clone, Debug)]
pub struct Windows {
    pub cut: Cut,
    /// Runs before the window, cycle by cycle: computes everything that determines where the window ends, and
    /// bounded look-ahead. The window `[a, b]` runs when this loop has computed all of its streams at `b`,
    /// `max_lag` iterations after `b` arrived.
    pub prelude: Lagged,
    /// Inputs and results of the prelude that the window reads, and where they are stored on arrival.
    pub arrivals: Vec<Arrival>,
    /// One version, or two if a condition is assumed to be constant in the window (section 8).
    pub versions: Vec<Version>,
    /// State that crosses windows; all versions have the same slots.
    pub carried: Vec<Carried>,
    /// All buffers, including those of nested units; each has an entry for each cycle of the outermost
    /// window.
    pub buffers: Vec<Buffer>,
    pub scalars: Vec<Scalar>,
    /// How many numbers per cycle would be in buffers between steps without recomputation.
    pub n_between_before: usize,
    /// Why requested checkpoints are missing.
    pub no_checkpoints: Vec<NoCheckpoint>,
}

/// One version of the code of a window.
#[derive(Clone, Debug)]
pub struct Version {
    /// The condition with this value at all cycles of the window; `None` if there is only one version.
    pub assumes: Option<(VarId, bool)>,
    pub region: Region,
    /// For each zone of the region, the instructions that emit the outputs after all steps. They are executed
    /// for each cycle, in cycle order.
    pub emit: Vec<Body>,
}

#[derive(Clone, Debug)]
pub enum Cut {
    /// Where a condition has a value.
    Guard(VarId, Polarity),
    /// Where no required stream waits for a later cycle.
    Derived(Box<DerivedEnd>),
    /// Only at the end of the trace.
    Trace,
}

/// How windows end (section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A window ends where a condition has a value.
    Guard,
    /// A window ends where no required stream needs a later cycle; it has no zones L and O.
    Cut,
    /// The window is the whole trace.
    Trace,
}

/// The direction of a sweep through a window, or of a unit through its windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    Forward,
    Backward,
}

/// Code for windows of a clock.
#[derive(Clone, Debug)]
pub struct Region {
    /// The clock whose activations are the cycles of the window.
    pub clock: ClockId,
    /// The conditions under which the clock is active in the enclosing window; empty if it is always active.
    pub activity: Box<[Condition]>,
    /// The condition that ends windows, on this clock.
    pub guard: Option<(VarId, Polarity)>,
    pub mode: Mode,
    /// The order of the windows; only nested units go backwards.
    pub order: Direction,
    /// F, I, the alternatives of L, then those of O. Bodies are listed in this order.
    pub zones: Vec<Zone>,
    /// How to choose an alternative of L, and of O; empty if there is only one.
    pub alternatives: Vec<Alternative>,
    /// Runs over a window of two or more cycles, and over an open window; in mode [`Mode::Cut`] over every
    /// window.
    pub steps: Vec<Step>,
    /// Loops that run again; only in the outermost region.
    pub checkpoints: Vec<Checkpoint>,
    /// Runs for a window of one cycle: a body for each zone O.
    pub single: Vec<Body>,
    /// Cells that are known without computing them.
    pub claims: Vec<Claim>,
    /// Cells that are the same at all inner cycles.
    pub held: Vec<Held>,
    /// The slots that are written after a closed window; in backward units, also after an open one.
    pub slots: Vec<(SlotId, SlotSource)>,
}

eddy_index::id! {
    /// A zone of a region, as an index into its list of zones.
    pub struct ZoneId, "a region has a few zones";
}

/// The position of a cycle in its window.
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
    /// The values of conditions at the last cycle. The first alternative whose conditions all hold is chosen.
    pub conditions: Vec<(VarId, bool)>,
}

/// A step over a window.
#[derive(Clone, Debug)]
pub enum Step {
    /// A loop over the cycles, or straight-line code.
    Sweep(Sweep),
    /// A mixed component: streams that depend on each other in both directions.
    Unit(Unit),
}

/// A loop over the cycles of a window.
#[derive(Clone, Debug)]
pub struct Sweep {
    pub direction: Direction,
    /// Whether inner cycles need no code; then the sweep is no loop, only code for the first and the last
    /// cycle.
    pub is_straight: bool,
    /// A body for each zone; those of the zones O are empty.
    pub bodies: Vec<Body>,
    /// Registers of delays on sampled clocks, reset in each window.
    pub trackers: Vec<Tracker>,
    /// Streams whose last value in the window is needed afterwards.
    pub latches: Vec<Latch>,
    /// Streams that are read at [`Place::Neighbour`]: their register is kept for one more iteration.
    pub neighbours: Vec<VarId>,
}

/// The register of a delay on a sampled clock: at the end of each iteration in which its operand is present,
/// it takes that value.
#[derive(Clone, Debug)]
pub struct Tracker {
    pub shift: VarId,
    /// The operand in each zone.
    pub next: Vec<Read>,
}

/// Keeps the value of a stream at the last cycle of the zone I at which it is present, for use after the
/// sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latch {
    /// A stream that this sweep computes in the zone I.
    pub var: VarId,
    pub scalar: ScalarId,
}

/// A mixed component: streams that depend on each other in both directions (section 5).
#[derive(Clone, Debug)]
pub enum Unit {
    /// A loop with lags over the window.
    Retimed(Retimed),
    /// Windows inside the window.
    Nested(Box<Region>),
}

/// A loop with lags over the window. Operands from outside are in buffers, at the index of their cycle.
#[derive(Clone, Debug)]
pub struct Retimed {
    /// The clock of all its streams; the loop runs over its activations in the window.
    pub clock: ClockId,
    /// The conditions under which the clock is active; empty if it is always active.
    pub activity: Box<[Condition]>,
    pub lagged: Lagged,
    /// Buffers for results that are read elsewhere; they hold all cells of the stream.
    pub stores: Vec<(VarId, BufferId)>,
    /// The slots that are written after a closed window, with the operand at the last activation, which is in
    /// a ring at the end of the loop, or in a buffer. They stay unchanged if there was no activation.
    pub slots: Vec<(SlotId, Read)>,
}

/// An input or a result of the prelude, on arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub var: VarId,
    /// The buffer that it is appended to; `None` if no inner cycle is read.
    pub buffer: Option<BufferId>,
    /// Keeps its value at the first cycle of the window, if there is no buffer.
    pub first: Option<ScalarId>,
    /// Keeps its value at the latest cycle, if there is no buffer.
    pub last: Option<ScalarId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The streams that it holds, one after the other: each from the step that writes it to the last one that
    /// reads it.
    pub vars: Vec<VarId>,
    pub role: BufferRole,
    /// Whether a step reads a value that another one wrote.
    pub is_between_steps: bool,
    /// Whether it has entries for the cycles of one chunk only; see [`Checkpoint`].
    pub is_chunked: bool,
}

/// The purpose of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferRole {
    /// An input, or a result of the prelude.
    Arrival,
    /// One step writes it, another reads it.
    Sweeps,
    /// An output waits in it; steps may read it too.
    Output,
}

/// A variable with one value per window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    pub var: VarId,
    /// I stands for the last inner cycle at which the stream is present.
    pub zone: Zone,
}

/// State that crosses windows: the value of a `fby` at its first activation in the next window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The `fby`; in backward units, the `post` or `fby back`, whose slots are cleared when their unit
    /// starts.
    pub shift: VarId,
    pub next: VarId,
}

/// Where the value of a slot is after all steps.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotSource {
    /// The places to search, one for each zone of the window, in this order. The slot takes the first present
    /// cell, and stays unchanged if no cell is present. For the zone I, a scalar is the latch, and a buffer
    /// is searched from its last cell to the first (from the first to the last in backward units).
    pub places: Vec<(ZoneId, Place)>,
}

/// A cell that is known without computing it (section 4).
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub var: VarId,
    pub zone: ZoneId,
    /// The value wherever the cell is present.
    pub value: Immediate,
}

/// A stream with the same value at all inner cycles (section 6): that of the cell where it enters.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    pub var: VarId,
    /// The cell where it enters, at the first or at the last cycle.
    pub entry: (VarId, ZoneEnd),
    /// Where that cell is stored.
    pub scalar: ScalarId,
    /// The value in the open window, if it enters at the last cycle.
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

/// The held value in an open window.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenEntry {
    /// As in any other window: it enters at the first cycle.
    Same,
    /// Unknown: it is the `post` of a cell after the end of the trace.
    Unknown,
    /// The initial value of a `fby back`.
    Init(Immediate),
}

impl Region {
    pub fn zone_id(&self, zone: Zone) -> Option<ZoneId> {
        self.zones.iter().position(|other| *other == zone).map(ZoneId::new)
    }

    /// The reads of all conditions and operands of an instruction.
    pub fn reads(instruction: &Instruction) -> impl Iterator<Item = &Read> {
        let conditions = instruction.clock.iter().map(|condition| &condition.read);
        conditions.chain(instruction.right.reads())
    }
}
