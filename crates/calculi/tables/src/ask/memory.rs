//! Memory of a search beyond its tables: copies of large integers, and pending questions.
//!
//! Allocations are added at once, but freed memory is not subtracted, so the sum may be too large. When the
//! sum reaches the limit, the memory is measured.

use super::mixed::Mixed;

/// Bytes beyond those of the tables.
#[derive(Debug, Default)]
pub(crate) struct ExtraMemory {
    counted: u64,
}

impl ExtraMemory {
    /// An upper bound on the memory in use.
    pub(super) fn estimate(&self) -> u64 {
        self.counted
    }

    /// Counts more memory.
    pub(super) fn add(&mut self, bytes: usize) {
        self.counted += bytes as u64;
    }

    /// Counts the copied integer of a value.
    pub(super) fn copied(&mut self, value: Mixed) -> Mixed {
        self.add(value.extra_bytes());
        value
    }

    /// Sets the measured memory.
    pub(super) fn set(&mut self, bytes: usize) {
        self.counted = bytes as u64;
    }
}
