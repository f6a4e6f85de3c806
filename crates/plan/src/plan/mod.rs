//! What a plan is: loops over time, with everything decided that a printer of code would otherwise have to find out.
//!
//! A plan says, for each root of the clocks, one of three things ([`Schedule`]): one forward loop in which each equation has a
//! lag ([`Lagged`]); windows of time, each run by a few sweeps ([`Windows`]); or that there is no plan, and why.
//!
//! Streams keep their numbers, so a plan is read beside its flow: `flow.equations` says *what* is computed, the plan says
//! when, how often, and where the result is kept.
//!
//! * [`code`]: instructions, and where they read and write.
//! * [`window`]: windows, zones, sweeps, units.
//! * [`checkpoint`]: loops that run once more, to keep less.
//! * [`closing`]: the predicate that ends a window where no single condition does.

pub mod checkpoint;
pub mod closing;
pub mod code;
pub mod window;

pub use eddy_flow::Polarity;
use eddy_flow::VarId;
use eddy_flow::clocks::ClockId;

pub use checkpoint::{Checkpoint, NoCheckpoint, chunk_length, chunks};
pub use closing::{Bit, Closing, Needing, Pending, Required};
pub use code::{
    Body, BufferId, Condition, Immediate, Instruction, Place, Read, Right, ScalarId, SlotId, Store,
};
pub use window::{
    Alternative, Arrival, Buffer, BufferRole, Carried, Claim, Cut, Direction, Held, Latch, Mode, OpenEntry,
    Region, Retimed, Scalar, Source, Step, Sweep, Tracker, Unit, Version, Windows, Zone, ZoneEnd, ZoneId,
};

/// How a program runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// One plan for each root that has something to compute or to show. Roots never mix.
    pub roots: Vec<RootPlan>,
    /// What does not depend on time: computed once, in this order, before the first cycle. Parameters come first.
    pub invariants: Vec<Instruction>,
    /// Streams that no output needs, and that are therefore not computed, though some of their cells may have no value: a simulation, which computes
    /// all streams, stops there.
    pub unread: Vec<VarId>,
    /// Whether numbers have single precision.
    pub single: bool,
}

impl Plan {
    /// The number of iterations of forward loops that run after the last input.
    pub fn max_lag(&self) -> usize {
        let lag = |root: &RootPlan| match &root.schedule {
            Schedule::Forward(lagged) => lagged.max_lag,
            _ => 0,
        };
        self.roots.iter().map(lag).max().unwrap_or(0)
    }
}

/// How the streams of one root run. All cycles are activations of the root: where it is silent, nothing happens.
#[derive(Clone, Debug)]
pub struct RootPlan {
    /// The root.
    pub clock: ClockId,
    /// The inputs of the program that are read.
    pub inputs: Vec<VarId>,
    /// The outputs on this root or on clocks below it, in the order of the program, without repetitions.
    pub outputs: Vec<VarId>,
    /// The loops.
    pub schedule: Schedule,
    /// Conditions that do not cut time into windows, and why.
    pub rejected: Vec<Rejected>,
    /// Streams that are unknown where they would need what comes after the end of the trace: those that are made of a `post`.
    /// All others have no need of an "unknown" bit.
    pub may_be_unknown: Vec<VarId>,
    /// How much is kept.
    pub memory: Memory,
}

/// The kinds of plan (section 2).
#[derive(Clone, Debug)]
pub enum Schedule {
    /// `forward` and `lag z`: one forward loop.
    Forward(Lagged),
    /// `window G`, `window derived`, `whole trace`, `window G, B constant`.
    Windows(Box<Windows>),
    /// No static plan: the event-driven simulator runs it.
    EventDriven(NoPlan),
}

/// A forward loop in which equations are late (section 3): in iteration `t` the stream `v` is computed at activation
/// `t - lag(v)`, and skipped where that is no activation.
///
/// Operands are read at [`Place::Ring`], which says how many iterations ago they were computed; 0 is this iteration. Inputs arrive
/// with lag 0, before the body runs.
#[derive(Clone, Debug, Default)]
pub struct Lagged {
    /// The equations, in the order of the loop body.
    pub body: Vec<Late>,
    /// Streams, inputs among them, that are kept for more than the iteration that computes them.
    pub rings: Vec<Ring>,
    /// `fby`s that are registers ([`Right::Register`]): those on sampled clocks, and those that are as late as their operand. The others
    /// read the ring of their operand ([`Right::Previous`]).
    pub registers: Vec<Register>,
    /// The largest lag of all streams: so many iterations are left to run after the last input.
    pub max_lag: usize,
    /// The largest lag of an output, the look-ahead that users are told. All outputs of an activation are shown when it has
    /// passed, and rings keep them until then.
    pub look_ahead: usize,
    /// What is shown of activation `t - look_ahead` at the end of iteration `t`; empty in preludes and units.
    pub emit: Body,
}

/// An equation and how late it is.
#[derive(Clone, Debug)]
pub struct Late {
    /// The lag of the stream.
    pub lag: usize,
    /// How it is computed.
    pub instruction: Instruction,
}

/// Keeps a stream for some iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The stream.
    pub var: VarId,
    /// How many values there are, the newest one included; at least 2.
    pub slots: usize,
}

/// The memory of a `fby`: at the end of an iteration in which the `fby` is there, it takes the value of its operand.
#[derive(Clone, Debug)]
pub struct Register {
    /// The `fby`.
    pub fby: VarId,
    /// Its operand, at the same activation.
    pub next: Read,
}

impl Lagged {
    /// The lag of a stream; inputs and what does not depend on time have none.
    pub fn lag(&self, var: VarId) -> usize {
        self.body.iter().find(|late| late.instruction.var == var).map_or(0, |late| late.lag)
    }

    /// The number of slots in which a stream is kept.
    pub fn slots(&self, var: VarId) -> usize {
        self.rings.iter().find(|ring| ring.var == var).map_or(1, |ring| ring.slots)
    }
}

/// Why there is no static plan (section 11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPlan {
    /// The streams of a cycle that no window cuts, in the order of dependence.
    pub cycle: Vec<VarId>,
    /// Those of them that look into the past.
    pub past: Vec<VarId>,
    /// Those of them that look into the future.
    pub future: Vec<VarId>,
}

/// A condition that was tried as the end of windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The condition.
    pub guard: VarId,
    /// The value of it that would have ended a window.
    pub polarity: Polarity,
    /// Why it does not.
    pub reason: Reason,
}

/// Why a condition does not cut time into windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// This stream still needs the next cycle where the window ends.
    Beyond(VarId),
    /// It is computed from what it would have to cut.
    Inside,
    /// It looks ahead itself and is not known at the end of the trace.
    Unknown,
    /// Inside a window, these streams depend on each other in both directions.
    Cycle(NoPlan),
    /// A window inside may still be open where this one ends: that of this condition.
    Open(VarId),
    /// The search for windows inside windows took too long.
    Budget,
    /// Another condition needs fewer units, loops or buffers.
    Worse,
}

/// The memory of a plan, in bytes: `carried + scalars + rings + W * (buffers + inputs + outputs) + √W * chunks` for windows of at most
/// `W` cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// State that is carried from window to window, or from cycle to cycle.
    pub carried: u64,
    /// Single values inside a window.
    pub scalars: u64,
    /// Rings of delayed values.
    pub rings: u64,
    /// Per cycle of a window: what sweeps hand to each other, after recomputation and sharing.
    pub buffers: u64,
    /// Per cycle of a window: inputs, and results of the loop that runs before the window.
    pub inputs: u64,
    /// Per cycle of a window: outputs that wait for their turn.
    pub outputs: u64,
    /// Per cycle of a chunk, of which there are about as many in a window as cycles in a chunk: what loops hand to each other, and the
    /// registers that are put aside.
    pub chunks: u64,
}

impl Memory {
    /// The bytes that are there whatever happens.
    pub fn fixed(&self) -> u64 {
        self.carried + self.scalars + self.rings
    }

    /// The bytes of each cycle of a window.
    pub fn per_cycle(&self) -> u64 {
        self.buffers + self.inputs + self.outputs
    }

    /// The bytes if windows have at most so many cycles.
    pub fn bound(&self, window: u64) -> u64 {
        let chunks = chunk_length(window).saturating_mul(self.chunks);
        self.fixed().saturating_add(window.saturating_mul(self.per_cycle())).saturating_add(chunks)
    }
}
