//! Which cycles a piece of code runs over.
//!
//! In the code of a window `t` counts its cycles, from 0 to `n`. Windows inside windows count their own, so that the entry of a buffer
//! that belongs to a cycle is found through the frame. A window that is *open* may go on after its last cycle: it has no zone L.

/// The cycles that code runs over.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Frame {
    /// Whether there is no zone for the last cycle.
    pub is_open: bool,
    /// Whether the trace ends inside of the window, so that nothing is carried out of it.
    pub is_cut_off: bool,
    /// Where entries of buffers are.
    pub entries: Entries,
}

/// From the number of a cycle to the entry of a buffer.
#[derive(Clone, Debug, Default)]
pub(in super::super) enum Entries {
    /// It is the number.
    #[default]
    Own,
    /// The cycles are a part of another frame, from here on.
    From(String, Box<Entries>),
    /// The cycles are in a list, from some position on.
    Listed(String, String),
}

impl Frame {
    /// Whether cycles are the entries of buffers, as in a window that lies in no other.
    pub fn is_outermost(&self) -> bool {
        matches!(self.entries, Entries::Own)
    }

    /// The entry of a buffer for a cycle.
    pub fn entry(&self, cycle: &str) -> String {
        self.entries.of(cycle)
    }
}

impl Entries {
    /// The entry of a cycle.
    pub fn of(&self, cycle: &str) -> String {
        match self {
            Entries::Own => cycle.to_string(),
            Entries::From(start, outer) => outer.of(&format!("({start} + {cycle})")),
            Entries::Listed(list, start) => format!("{list}[{start} + {cycle}]"),
        }
    }
}
