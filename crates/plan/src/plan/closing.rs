//! The predicate that ends a window where no single condition does (section 8, `window derived`).
//!
//! A forward scan computes for each stream a bit φ, "needs a cycle after this one", and its value where that is possible without
//! the future. The window may end after a cycle at which no required stream needs more. For two independent `backfill`s that is
//! "each condition was true now".

use eddy_flow::{Polarity, VarId};

/// The scan, run at each cycle as it arrives.
#[derive(Clone, Debug, Default)]
pub struct Closing {
    /// Streams whose values the scan computes, in order: those that conditions are made of. A value may be unknown at run time,
    /// when it waits for a later cycle: operations on unknown values are unknown. `fby` reads what the scan found at the previous
    /// activation. Inputs and results of the prelude are known and not listed.
    pub values: Vec<VarId>,
    /// The bits, in order: each is computed from those before it.
    pub bits: Vec<(VarId, Bit)>,
    /// The window may end if none of these bits is set.
    pub required: Vec<Required>,
    /// Nor any of these.
    pub pending: Vec<Pending>,
    /// And if each of these conditions had this value at its last activation: windows of units inside are closed.
    pub nested: Vec<(VarId, Polarity)>,
}

/// How a bit is computed. Absent streams need nothing; where it is not known whether a stream is there, its conditions count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bit {
    /// Never set: the stream needs nothing later.
    Clear,
    /// Set wherever the stream is there.
    Set,
    /// Set if one of these is.
    Any(Vec<VarId>),
    /// That of the initial value at the first activation of a `fby`, then clear.
    First(VarId),
    /// That of the condition; and that of the branch that it chooses, or of both where its value is not known.
    Choice {
        /// The condition.
        condition: VarId,
        /// If it is true.
        yes: Option<VarId>,
        /// If it is false.
        no: Option<VarId>,
    },
}

/// A stream whose cells must be known when the window ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Required {
    /// The stream.
    pub var: VarId,
    /// Whether it is sampled: then the bit of its last activation counts.
    pub is_sampled: bool,
}

/// A delay into the future on a sampled clock: from one of its activations to the next, those that it reaches wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The `post` or `fby back`.
    pub shift: VarId,
    /// The required streams that are computed from it at the same cycle: if one of their bits is set at an activation of the
    /// delay, the window stays open until its next activation.
    pub reaches: Vec<VarId>,
}
