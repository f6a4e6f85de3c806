//! The predicate that ends a window if no single condition does (section 8, `window derived`).
//!
//! A forward scan computes for each stream a bit φ, "needs a cycle after this one", and the values of
//! conditions as far as possible without the future. The window may end after a cycle at which no required
//! stream needs more. For two independent `backfill`s this is "each condition was true now".

use eddy_flow::{Polarity, VarId};

use super::Lagged;

/// The scan, which runs at each cycle on arrival.
#[derive(Clone, Debug, Default)]
pub struct DerivedEnd {
    /// Computes the values of conditions. Values may be unknown at run time: `post` and `fby back` are, and
    /// everything that depends on them. Inputs and results of the prelude arrive with lag 0.
    pub scan: Lagged,
    /// The bits, each after those on which it depends. Streams without a bit need no later cycle.
    pub bits: Vec<Needing>,
    /// The window may end if none of these bits is set,
    pub required: Vec<Required>,
    /// no pending delay keeps it open,
    pub pending: Vec<Pending>,
    /// and each of these conditions had this value at its last activation, so that nested windows are closed.
    pub nested: Vec<(VarId, Polarity)>,
}

/// A stream that may need a later cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needing {
    pub var: VarId,
    /// When the stream is present. An absent stream needs nothing; if a condition is unknown, its bit counts
    /// too.
    pub clock: Vec<(VarId, Polarity)>,
    pub bit: Bit,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bit {
    /// Set wherever the stream is present.
    Set,
    /// Set if any of these is set.
    Any(Vec<VarId>),
    /// The bit of the initial value at the first activation of a `fby`; then clear.
    First { fby: VarId, init: VarId },
    /// The bit of the condition, or of the chosen branch; of both branches if the condition is unknown.
    Choice { condition: VarId, yes: VarId, no: VarId },
}

/// A stream whose cells must be known when the window ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Required {
    pub var: VarId,
    /// Whether it is sampled; then the bit of its last activation counts.
    pub is_sampled: bool,
}

/// A delay into the future on a sampled clock: between its activations, the streams that depend on it wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The `post` or `fby back`.
    pub shift: VarId,
    /// The required streams that depend on it at the same cycle. If one of their bits is set at an activation
    /// of the delay, the window stays open until its next activation.
    pub reaches: Vec<VarId>,
}
