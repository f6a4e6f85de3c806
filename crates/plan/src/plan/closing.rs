//! The predicate that ends a window where no single condition does (section 8, `window derived`).
//!
//! A forward scan computes for each stream a bit φ, "needs a cycle after this one", and the values of conditions as far as that is
//! possible without the future. The window may end after a cycle at which no required stream needs more. For two independent
//! `backfill`s that is "each condition was true now".

use eddy_flow::{Polarity, VarId};

use super::Lagged;

/// The scan, run at each cycle as it arrives.
#[derive(Clone, Debug, Default)]
pub struct Closing {
    /// The values of conditions, and what they are made of. Values may be unknown at run time: where `post` or `fby back` is
    /// asked for, and in all that is made of that. Inputs and results of the prelude arrive with lag 0.
    pub scan: Lagged,
    /// The bits, in order: each is computed from those before it. Streams without one need nothing later.
    pub bits: Vec<Needing>,
    /// The window may end if none of these bits is set.
    pub required: Vec<Required>,
    /// Nor any of these.
    pub pending: Vec<Pending>,
    /// And if each of these conditions had this value at its last activation: windows of units inside are closed.
    pub nested: Vec<(VarId, Polarity)>,
}

/// A stream that may need a later cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needing {
    /// The stream.
    pub var: VarId,
    /// When it is there. An absent stream needs nothing; where a condition is not known, the bit of the condition counts too.
    pub clock: Vec<(VarId, Polarity)>,
    /// How its bit is computed.
    pub bit: Bit,
}

/// How a bit is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bit {
    /// Set wherever the stream is there.
    Set,
    /// Set if one of these is.
    Any(Vec<VarId>),
    /// That of the initial value at the first activation of a `fby`, then clear.
    First {
        /// The `fby`.
        fby: VarId,
        /// Its initial value.
        init: VarId,
    },
    /// That of the condition; and that of the branch that it chooses, or of both where its value is not known.
    Choice {
        /// The condition.
        condition: VarId,
        /// If it is true.
        yes: VarId,
        /// If it is false.
        no: VarId,
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
