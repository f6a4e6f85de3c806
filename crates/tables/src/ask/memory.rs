//! What a search takes beyond its tables: copies of large integers, and what waits for an answer.
//!
//! Each addition is noted at once. What goes away is not, so the sum may be too large; when it seems to reach the limit, it is measured.

use super::mixed::Mixed;

/// Bytes beyond those of the tables.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    noted: u64,
}

impl Memory {
    /// At least what is taken.
    pub(super) fn noted(&self) -> u64 {
        self.noted
    }

    /// So much more is taken.
    pub(super) fn note(&mut self, bytes: usize) {
        self.noted += bytes as u64;
    }

    /// A copy of a value, whose integer is there once more.
    pub(super) fn copied(&mut self, value: Mixed) -> Mixed {
        self.note(value.extra_bytes());
        value
    }

    /// Exactly so much is taken.
    pub(super) fn measured(&mut self, bytes: usize) {
        self.noted = bytes as u64;
    }
}
