//! The data structure of a plan: loops over time, with all decisions that printing code needs.
//!
//! For each root of the clocks, a plan is one of ([`Schedule`]): a forward loop in which each equation has a
//! lag ([`Lagged`]); windows of time, each executed by a few sweeps ([`Windows`]); or the reason why there is
//! no plan.
//!
//! Streams keep their numbers, so a plan refers to its flow: `flow.equations` says *what* is computed; the
//! plan says when, how often, and where the result is stored.
//!
//! * [`code`]: instructions with the places they read and write.
//! * [`window`]: windows, zones, sweeps, units.
//! * [`checkpoint`]: loops that run again, to need less memory.
//! * [`derived_end`]: the predicate that ends a window if no single condition does.

pub mod checkpoint;
pub mod code;
pub mod derived_end;
pub mod window;

pub use eddy_flow::Polarity;
use eddy_flow::VarId;
use eddy_flow::clocks::ClockId;

pub use checkpoint::{Checkpoint, NoCheckpoint, chunk_length, chunks};
pub use code::{
    Body, BufferId, Condition, Immediate, Instruction, Place, Read, Right, ScalarId, SlotId, Store,
};
pub use derived_end::{Bit, DerivedEnd, Needing, Pending, Required};
pub use window::{
    Alternative, Arrival, Buffer, BufferRole, Carried, Claim, Cut, Direction, Held, Latch, Mode, OpenEntry,
    Region, Retimed, Scalar, SlotSource, Step, Sweep, Tracker, Unit, Version, Windows, Zone, ZoneEnd, ZoneId,
};

/// How a program runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// One plan for each root with computations or outputs. Roots never mix.
    pub roots: Vec<RootPlan>,
    /// Values that do not depend on time, operands first: computed once, in this order, before the first
    /// cycle.
    pub invariants: Vec<Instruction>,
    /// Dead streams whose operations may fail. A plan does not compute them; a simulation, which computes all
    /// streams, stops at the error.
    pub unread: Vec<VarId>,
    pub single: bool,
}

impl Plan {
    /// The number of iterations of forward loops after the last input.
    pub fn max_lag(&self) -> usize {
        let lag = |root: &RootPlan| match &root.schedule {
            Schedule::Forward(lagged) => lagged.max_lag,
            _ => 0,
        };
        self.roots.iter().map(lag).max().unwrap_or(0)
    }
}

/// How the streams of one root run. All cycles are activations of the root; nothing happens at other cycles.
#[derive(Clone, Debug)]
pub struct RootPlan {
    pub clock: ClockId,
    /// The inputs that are read.
    pub inputs: Vec<VarId>,
    /// The outputs on this root or on clocks below it, in the order of the program, without repetitions.
    pub outputs: Vec<VarId>,
    pub schedule: Schedule,
    /// Conditions that do not cut time into windows, with the reasons.
    pub rejected: Vec<Rejected>,
    /// Streams that may be unknown at the end of the trace, because they depend on a `post`. All others need
    /// no "unknown" bit.
    pub may_be_unknown: Vec<VarId>,
    pub memory: MemoryUse,
}

/// The kinds of plan (section 2).
#[derive(Clone, Debug)]
pub enum Schedule {
    /// `forward` and `lag z`: one forward loop.
    Forward(Lagged),
    /// `window G`, `window derived`, `whole trace`, `window G, B constant`.
    Windows(Box<Windows>),
    /// No static plan: the event-driven simulator runs the root.
    EventDriven(NoPlan),
}

/// A forward loop with lags (section 3): iteration `t` computes the stream `v` for activation `t - lag(v)`,
/// and skips it if there is no such activation.
///
/// Operands are read from a [`Place::Ring`], which gives the number of iterations since they were computed; 0
/// is this iteration. Inputs arrive with lag 0, before the body runs.
#[derive(Clone, Debug, Default)]
pub struct Lagged {
    /// In the order of the loop body.
    pub body: Vec<Late>,
    /// Streams, including inputs, that are needed after the iteration that computes them.
    pub rings: Vec<Ring>,
    /// `fby`s that are registers ([`Right::Register`]): those on sampled clocks, and those with the lag of
    /// their operand. The others read the ring of their operand ([`Right::Previous`]).
    pub registers: Vec<Register>,
    /// The largest lag of all streams: the number of iterations after the last input.
    pub max_lag: usize,
    /// The largest lag of an output, which is the look-ahead reported to users. All outputs of an activation
    /// are emitted together after this many iterations; rings keep them until then.
    pub look_ahead: usize,
    /// The outputs of activation `t - look_ahead`, emitted at the end of iteration `t`; empty in preludes and
    /// units.
    pub emit: Body,
}

/// An equation with its lag.
#[derive(Clone, Debug)]
pub struct Late {
    pub lag: usize,
    pub instruction: Instruction,
}

/// Keeps a stream for some iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    pub var: VarId,
    /// The number of values, including the newest; at least 2.
    pub slots: usize,
}

/// The state of a `fby`: at the end of an iteration in which the `fby` is present, it takes the value of its
/// operand.
#[derive(Clone, Debug)]
pub struct Register {
    pub fby: VarId,
    /// The operand, at the same activation.
    pub next: Read,
}

impl Lagged {
    /// The lag of a stream; 0 for inputs and values that do not depend on time.
    pub fn lag(&self, var: VarId) -> usize {
        self.body.iter().find(|late| late.instruction.var == var).map_or(0, |late| late.lag)
    }

    /// The number of values that are kept of a stream.
    pub fn slots(&self, var: VarId) -> usize {
        self.rings.iter().find(|ring| ring.var == var).map_or(1, |ring| ring.slots)
    }
}

/// Why there is no static plan (section 11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPlan {
    /// The streams of a cycle that no window cuts, in the order of dependence.
    pub cycle: Vec<VarId>,
    /// The streams of the cycle that read the past.
    pub past: Vec<VarId>,
    /// The streams of the cycle that read the future.
    pub future: Vec<VarId>,
}

/// A condition that was tried as the end of windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    pub guard: VarId,
    /// The value that would have ended a window.
    pub polarity: Polarity,
    pub reason: Reason,
}

/// Why a condition does not cut time into windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// This stream still needs the next cycle when the window ends.
    Beyond(VarId),
    /// The condition depends on the streams that it would have to cut.
    Inside,
    /// The condition looks ahead and is unknown at the end of the trace.
    Unknown,
    /// Inside a window, these streams depend on each other in both directions.
    Cycle(NoPlan),
    /// The nested window of this condition may still be open when the window ends.
    Open(VarId),
    /// The search for nested windows took too long.
    Budget,
    /// Another condition needs fewer units, loops or buffers.
    Worse,
}

/// The memory of a plan, in bytes: `carried + scalars + rings + W * (buffers + inputs + outputs) + √W *
/// chunks` for windows of at most `W` cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// State carried from window to window, or from cycle to cycle.
    pub carried: u64,
    /// Scalars of a window.
    pub scalars: u64,
    /// Rings of delayed values.
    pub rings: u64,
    /// Per cycle of a window: buffers between sweeps, after recomputation and sharing.
    pub buffers: u64,
    /// Per cycle of a window: inputs, and results of the prelude.
    pub inputs: u64,
    /// Per cycle of a window: outputs that wait to be emitted.
    pub outputs: u64,
    /// Per cycle of a chunk (a window has about as many chunks as a chunk has cycles): buffers between loops,
    /// and saved registers.
    pub chunks: u64,
}

impl MemoryUse {
    /// The bytes that do not depend on windows.
    pub fn fixed(&self) -> u64 {
        self.carried + self.scalars + self.rings
    }

    pub fn per_cycle(&self) -> u64 {
        self.buffers + self.inputs + self.outputs
    }

    /// The bytes if windows have at most this many cycles.
    pub fn bound(&self, window: u64) -> u64 {
        let chunks = chunk_length(window).saturating_mul(self.chunks);
        self.fixed().saturating_add(window.saturating_mul(self.per_cycle())).saturating_add(chunks)
    }
}
