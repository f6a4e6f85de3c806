//! Instructions of sweeps: one equation at one cycle, specialised to its zone, with the places of its
//! operands.
//!
//! ```text
//! o = if end then 0.0 else post b
//!     in zones F and I:  o = b at the next cycle (in a backward sweep, the previous iteration)
//!     in zone L:         o is the constant 0.0 (no instruction)
//! ```
//!
//! An instruction in a body is always executed, and it names the operands that are read.

use eddy_flow::{Polarity, VarId};
use eddy_tensor::Value;

/// The instructions for the cycles of one zone, in order.
#[derive(Clone, Debug, Default)]
pub struct Body {
    pub code: Vec<Instruction>,
}

/// Computes one cell.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub var: VarId,
    /// The cell is present if all of these conditions hold, outer ones first. Conditions that always hold in
    /// this zone are omitted. If a condition does not hold, the cell is absent; if it is unknown, the
    /// presence of the cell is unknown.
    pub clock: Box<[Condition]>,
    /// The value of a present cell.
    pub right: Right,
    /// Where the result is stored, besides the register of this iteration.
    pub store: Vec<Store>,
    /// Whether this is a recomputation of a cell from an earlier step.
    pub is_repeated: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The condition at this cycle.
    pub read: Read,
    pub polarity: Polarity,
}

/// The right-hand side of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Right {
    /// The operand itself: a copy, a present `when`, the remaining branch of an `if` or `merge`, or the
    /// adjacent cell that a delay reads.
    Copy(Read),
    /// The operation of the stream's equation.
    Apply(Box<[Read]>),
    /// `if` and `merge`: only the chosen branch matters.
    Choice { condition: Read, yes: Read, no: Read },
    /// `fby` at the first cycle of a window, or on a sampled clock: the carried value, or the initial value
    /// if there is none. For a sampled `fby`, the register of its [`Tracker`](super::Tracker) has priority.
    Carried {
        /// Where the value is kept between windows; `None` if nothing crosses them.
        slot: Option<SlotId>,
        init: Read,
        /// Whether a tracker of this step records activations in this window.
        is_tracked: bool,
    },
    /// `fby` in a loop with lags: its register ([`Register`](super::Register)), the carried value if the
    /// register has not been written, or else the initial value.
    Register {
        /// Where the value is kept between windows; only in units.
        slot: Option<SlotId>,
        init: Read,
    },
    /// `fby` in a loop with lags: its operand at the previous activation; at the first one, the carried or
    /// the initial value.
    Previous {
        /// Where the value is kept between windows; only in units.
        slot: Option<SlotId>,
        init: Read,
        next: Read,
    },
    /// `post` and `fby back` at a cycle that may be the last of the trace. The value is the operand at the
    /// next cycle of the window; if the window ends here, the carried value (in backward units); if the slot
    /// is empty, the initial value of `fby back`, provided that the trace ends here too. Otherwise it is
    /// unknown.
    Ahead {
        /// Where the value is kept between windows.
        slot: Option<SlotId>,
        /// The operand at the next cycle; `None` if that cycle is always beyond the window.
        next: Option<Read>,
        init: Option<Read>,
    },
    /// `post` and `fby back` on a sampled clock: the register of the tracker, or as [`Right::Ahead`] if there
    /// is no later activation.
    Tracked {
        /// Where the value is kept between windows.
        slot: Option<SlotId>,
        init: Option<Read>,
    },
}

impl Right {
    pub fn reads(&self) -> impl Iterator<Item = &Read> {
        let (few, many): ([Option<&Read>; 3], &[Read]) = match self {
            Right::Copy(read) | Right::Carried { init: read, .. } | Right::Register { init: read, .. } => {
                ([Some(read), None, None], &[])
            }
            Right::Previous { init, next, .. } => ([Some(init), Some(next), None], &[]),
            Right::Apply(reads) => ([None; 3], reads),
            Right::Choice { condition, yes, no } => ([Some(condition), Some(yes), Some(no)], &[]),
            Right::Ahead { next, init, .. } => ([next.as_ref(), init.as_ref(), None], &[]),
            Right::Tracked { init, .. } => ([init.as_ref(), None, None], &[]),
        };
        few.into_iter().flatten().chain(many)
    }
}

/// How an operand is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// At this cycle.
    Here(VarId, Place),
    /// At the previous cycle.
    Before {
        var: VarId,
        /// The place if that cycle is the first of the window.
        first: Place,
        /// The place otherwise.
        inner: Place,
    },
    /// At the next cycle.
    After {
        var: VarId,
        /// The place if that cycle is not the last of the window.
        inner: Place,
        /// The place otherwise, for each alternative of the zone L; empty if windows have no such zone.
        last: Box<[Place]>,
    },
}

impl Read {
    pub fn var(&self) -> VarId {
        match self {
            Read::Here(var, _) | Read::Before { var, .. } | Read::After { var, .. } => *var,
        }
    }
}

/// Where a cell is.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// In no memory: it does not depend on the cycle.
    Immediate(Immediate),
    /// In the register of this iteration.
    Local,
    /// In the register of the previous iteration, in the direction of the sweep.
    Neighbour,
    /// In the ring of a loop with lags: it was computed this many iterations ago.
    Ring(usize),
    /// In a window buffer, at the index of its cycle.
    Buffer(BufferId),
    /// In a scalar of the window.
    Scalar(ScalarId),
    /// In no memory: it is absent.
    Absent,
    /// Irrelevant: no window has such a cycle, or no live instruction reads it.
    Nowhere,
}

/// A value that does not depend on time.
#[derive(Clone, Debug, PartialEq)]
pub enum Immediate {
    Value(Value),
    /// An invariant of the plan: a parameter or an operation on parameters.
    Invariant(VarId),
}

/// Where a result is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// In a buffer, at the index of the cycle.
    Buffer(BufferId),
    /// In a scalar of the window.
    Scalar(ScalarId),
}

eddy_index::id! {
    /// Memory with an entry for each cycle of the window; see [`Buffer`](super::Buffer).
    pub struct BufferId, "fewer buffers than streams";
    /// A variable with one value per window; see [`Scalar`](super::Scalar).
    pub struct ScalarId, "a stream has a few scalars at most";
    /// State that crosses windows; see [`Carried`](super::Carried).
    pub struct SlotId, "a stream has a few slots at most";
}
