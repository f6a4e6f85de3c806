//! The cycles that a piece of code runs over.
//!
//! In the code of a window, `t` counts its cycles, from 0 to `n`. Nested windows have their own count, so the
//! frame maps a cycle to its entry in a buffer. An *open* window may continue after its last cycle: it has no
//! zone L.

use eddy_imp::{Expr, Place};

#[derive(Clone, Debug, Default)]
pub(in super::super) struct Frame {
    /// Whether there is no zone for the last cycle.
    pub is_open: bool,
    /// Whether the trace ends inside of the window, so that nothing is carried out of it.
    pub is_cut_off: bool,
    pub entries: Entries,
}

/// Maps the index of a cycle to the entry of a buffer.
#[derive(Clone, Debug, Default)]
pub(in super::super) enum Entries {
    /// The index itself.
    #[default]
    Own,
    /// The cycles are a part of another frame, starting here.
    From(Expr, Box<Entries>),
    /// The cycles are in a list, starting at a position.
    Listed(Place, Expr),
}

impl Frame {
    /// Whether the index of a cycle is its entry, as in an outermost window.
    pub fn is_outermost(&self) -> bool {
        matches!(self.entries, Entries::Own)
    }

    /// The entry of a buffer for a cycle.
    pub fn entry(&self, cycle: Expr) -> Expr {
        self.entries.of(cycle)
    }
}

impl Entries {
    /// The entry of a cycle.
    pub fn of(&self, cycle: Expr) -> Expr {
        match self {
            Entries::Own => cycle,
            Entries::From(start, outer) => outer.of(start.clone() + cycle),
            Entries::Listed(list, start) => list.index(start.clone() + cycle).load(),
        }
    }
}
