//! Instructions of sweeps: one equation at one cycle, specialised to its zone, with the place of each operand.
//!
//! ```text
//! o = if end then 0.0 else post b        in zone F and I:   o = b at the next cycle     (a sweep backwards: the last iteration)
//!                                        in zone L:         o is the constant 0.0       (no instruction at all)
//! ```
//!
//! An instruction never needs to be looked up: if it is there, it is executed, and it says which of its operands are read.

use eddy_flow::{Polarity, VarId};
use eddy_tensor::Value;

/// Code for the cycles of one zone, in order.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The instructions.
    pub code: Vec<Instruction>,
}

/// Computes one cell.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The stream.
    pub var: VarId,
    /// When it is there: all of these, outer ones first; conditions that are known to hold in this zone are left out. If one does
    /// not hold, the cell is absent; if one is unknown, so is the cell.
    pub clock: Box<[Condition]>,
    /// What it is then.
    pub right: Right,
    /// Where the result goes besides the register of this iteration.
    pub store: Vec<Store>,
    /// Whether the cell was computed in an earlier step already, and is cheaper to compute again than to keep.
    pub is_repeated: bool,
}

/// A condition of a clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The condition, at this cycle.
    pub read: Read,
    /// Which value of it.
    pub polarity: Polarity,
}

/// The right side of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Right {
    /// The operand itself: a copy, `when` where it is there, the branch that is left of an `if` or a `merge`, the neighbour that a
    /// delay looks at.
    Copy(Read),
    /// The operation of the stream's equation.
    Apply(Box<[Read]>),
    /// `if` and `merge`: only the branch that the condition chooses counts.
    Choice {
        /// The condition.
        condition: Read,
        /// If it is true.
        yes: Read,
        /// If it is false.
        no: Read,
    },
    /// `fby` at the first cycle of a window, or on a sampled clock: the carried value, or the initial one if there is none yet. In a
    /// sampled `fby`, the value of the register that its [`Tracker`](super::Tracker) keeps comes first.
    Carried {
        /// Where the value is kept between windows; none if nothing crosses them.
        slot: Option<SlotId>,
        /// The initial value.
        init: Read,
        /// Whether a tracker of this step knows of activations in this window.
        is_tracked: bool,
    },
    /// `fby` in a loop whose equations are late: its register ([`Register`](super::Register)), the carried value if that was not written
    /// yet, or else the initial value.
    Register {
        /// Where the value is kept between windows; only in units.
        slot: Option<SlotId>,
        /// The initial value.
        init: Read,
    },
    /// `fby` in a loop whose equations are late: its operand at the activation before. At the first one, the carried or the initial
    /// value.
    Previous {
        /// Where the value is kept between windows; only in units.
        slot: Option<SlotId>,
        /// The initial value.
        init: Read,
        /// The operand.
        next: Read,
    },
    /// `post` and `fby back` at a cycle that may be the last of the trace: the operand at the next cycle of the window. If there
    /// is none, the carried value, in units that go backwards; if there is none either, the initial value of `fby back` if the trace
    /// ends here, and otherwise unknown.
    Ahead {
        /// Where the value is kept between windows.
        slot: Option<SlotId>,
        /// The operand, at the next cycle; none where that is always beyond the window.
        next: Option<Read>,
        /// The initial value of `fby back`.
        init: Option<Read>,
    },
    /// `post` and `fby back` on a sampled clock: the register of the tracker, and as [`Right::Ahead`] if there is no later activation.
    Tracked {
        /// Where the value is kept between windows.
        slot: Option<SlotId>,
        /// The initial value of `fby back`.
        init: Option<Read>,
    },
}

impl Right {
    /// The operands that are read.
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
    /// At the cycle before.
    Before {
        /// The stream.
        var: VarId,
        /// Where it is, if that cycle is the first of the window.
        first: Place,
        /// Where it is otherwise.
        inner: Place,
    },
    /// At the cycle after.
    After {
        /// The stream.
        var: VarId,
        /// Where it is, if that cycle is not the last of the window.
        inner: Place,
        /// Where it is otherwise, for each alternative of the zone L; empty if windows have no such zone.
        last: Box<[Place]>,
    },
}

impl Read {
    /// The stream that is read.
    pub fn var(&self) -> VarId {
        match self {
            Read::Here(var, _) | Read::Before { var, .. } | Read::After { var, .. } => *var,
        }
    }
}

/// Where a cell is.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Nowhere: it does not depend on the cycle.
    Immediate(Immediate),
    /// In the register of this iteration.
    Local,
    /// In the register of the iteration before this one, in the direction of the sweep.
    Neighbour,
    /// In the ring of a loop whose equations are late: it was computed so many iterations ago.
    Ring(usize),
    /// In a window buffer, at the index of its cycle.
    Buffer(BufferId),
    /// In a single variable.
    Scalar(ScalarId),
    /// Nowhere: it is absent.
    Absent,
    /// Nowhere, and it does not matter: no window has such a cycle, or nobody who counts reads the result.
    Nowhere,
}

/// What does not depend on time.
#[derive(Clone, Debug, PartialEq)]
pub enum Immediate {
    /// A value.
    Value(Value),
    /// A stream among the invariants of the plan: a parameter, or what is made of parameters.
    Invariant(VarId),
}

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Into a buffer, at the index of the cycle.
    Buffer(BufferId),
    /// Into a single variable.
    Scalar(ScalarId),
}

/// Memory with an entry for each cycle of the window; see [`Buffer`](super::Buffer).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub usize);

/// A single variable of the window; see [`Scalar`](super::Scalar).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScalarId(pub usize);

/// State that crosses windows; see [`Carried`](super::Carried).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub usize);
