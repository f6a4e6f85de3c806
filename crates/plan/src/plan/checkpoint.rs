//! Checkpoints (section 7): memory of the order of the square root of the window, for one more loop forwards.
//!
//! A loop backwards reads what a loop forwards computed, in the opposite order. Rather than keep all of it, the loop forwards puts aside its
//! registers every `C` cycles, where `C` is the square root of the length of the window, rounded up. Before the loop
//! backwards goes down through such a *chunk*, the loop forwards runs over it once more, from the registers that were put aside, and
//! what it computes is kept for the cycles of this chunk alone. A loop backwards that a loop forwards follows does the same; its chunks are
//! counted from the last cycle.

use std::ops::Range;

use eddy_flow::VarId;

use super::{BufferId, Direction, Sweep};

/// A loop that is run again, chunk by chunk.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The step that puts its registers aside where a chunk begins. It does not write the buffers.
    pub writer: usize,
    /// The later step, a loop that goes the other way, that alone reads the buffers.
    pub reader: usize,
    /// The loop once more, over the cycles of one chunk: it writes the buffers and nothing else.
    pub again: Sweep,
    /// The registers that are put aside, besides all trackers. Chunks have two cycles at least, unless the window has one only: what is
    /// read of the cycle alone at which the loop starts is not among them.
    pub registers: Vec<VarId>,
    /// What it writes; each has an entry for each cycle of a chunk, one for the cycle before and one for the cycle after.
    pub buffers: Vec<BufferId>,
    /// Those of them that are read at the cycle that the loop comes from: where a chunk begins, that is in the register of the stream.
    pub behind: Vec<(VarId, BufferId)>,
    /// Those of them that are read at the cycle that it goes to: where a chunk ends, the entry of the chunk that was run before is kept.
    pub ahead: Vec<(VarId, BufferId)>,
}

/// Why there are no checkpoints, or not everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCheckpoint {
    /// No loop keeps anything for one that goes the other way.
    NoLoops,
    /// There are windows inside the window, or late loops, which do not run again.
    Units,
    /// The loop of this step, from 0, reads a stream that another step keeps for each cycle.
    Reads(usize, VarId),
    /// What the loop of this step keeps of a stream is not for one loop alone that goes the other way.
    Shared(usize, VarId),
}

/// The length of chunks in a window of so many cycles: its square root, rounded up.
pub fn chunk_length(n_cycles: u64) -> u64 {
    let root = n_cycles.isqrt();
    if root * root < n_cycles { root + 1 } else { root }
}

/// The chunks of a window, in the order in which a loop that goes this way comes to them.
pub fn chunks(n_cycles: usize, direction: Direction) -> Vec<Range<usize>> {
    let length = usize::try_from(chunk_length(n_cycles as u64)).unwrap_or(n_cycles).max(1);
    let chunk = |start: usize| match direction {
        Direction::Forward => start..(start + length).min(n_cycles),
        Direction::Backward => n_cycles.saturating_sub(start + length)..n_cycles - start,
    };
    (0..n_cycles).step_by(length).map(chunk).collect()
}
