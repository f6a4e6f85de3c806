//! The predicate that ends a window if no single condition does (section 8, `window derived`).
//!
//! A forward scan computes for each stream a bit φ, "needs a cycle after this one", and the values of those
//! conditions that do not depend on the future. The window may end after a cycle at which no required stream
//! needs a later one. For two independent `backfill`s this is the conjunction of their two conditions.

use eddy_flow::{Polarity, VarId};

use super::Lagged;

/// The scan, which runs at each cycle on arrival.
#[derive(Clone, Debug, Default)]
pub struct DerivedEnd {
    /// Computes the values of conditions. `post` and `fby back` are unknown in the scan, and so is everything
    /// that depends on them. Inputs and results of the prelude arrive with lag 0.
    pub scan: Lagged,
    /// The bits, each after those on which it depends. Streams without a bit need no later cycle.
    pub bits: Vec<Needing>,
    /// The window stays open while the bit of one of these streams is set.
    pub required: Vec<Required>,
    /// The window stays open while one of these delays is pending.
    pub pending: Vec<Pending>,
    /// The guards of nested windows, with the values that end these. The window stays open while a guard had
    /// the other value at its last activation, because then a nested window is open.
    pub nested: Vec<(VarId, Polarity)>,
}

/// A stream that may need a later cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needing {
    pub var: VarId,
    /// The conditions of the stream's clock. An absent stream needs no later cycle. If a condition is
    /// unknown, the stream also needs a later cycle if the bit of the condition is set.
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
