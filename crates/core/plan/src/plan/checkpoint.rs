//! Checkpoints (section 7): memory proportional to the square root of the window, at the cost of one more
//! forward loop.
//!
//! A backward loop reads the results of a forward loop in the opposite order. Instead of storing all of them,
//! the forward loop saves its registers every `C` cycles, where `C` is the square root of the window's
//! length, rounded up. Before the backward loop goes through such a *chunk*, the forward loop runs over it
//! once more, from the saved registers, and its results are stored for the cycles of this chunk only. A
//! backward loop that is followed by a forward loop does the same; its chunks are counted from the last
//! cycle.

use std::ops::Range;

use eddy_flow::VarId;

use super::{BufferId, Direction, Sweep};

/// A loop that runs again, chunk by chunk.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The step that saves its registers at the start of each chunk. It does not write the buffers.
    pub writer: usize,
    /// The only step that reads the buffers: a later loop in the other direction.
    pub reader: usize,
    /// The loop that runs again over one chunk: it only writes the buffers.
    pub again: Sweep,
    /// The saved registers, besides all trackers. Chunks have at least two cycles, unless the window has only
    /// one; so registers that are read only from the first cycle of the loop are not included.
    pub registers: Vec<VarId>,
    /// The buffers that it writes; each has an entry for each cycle of a chunk, one for the cycle before and
    /// one for the cycle after.
    pub buffers: Vec<BufferId>,
    /// The buffers that are read at the previous cycle in the direction of the loop: at the start of a chunk,
    /// the register of the stream has that value.
    pub behind: Vec<(VarId, BufferId)>,
    /// The buffers that are read at the next cycle in the direction of the loop: at the end of a chunk, the
    /// entry of the previously run chunk is kept.
    pub ahead: Vec<(VarId, BufferId)>,
}

/// Why some or all loops have no checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCheckpoint {
    /// No loop stores anything for a loop in the other direction.
    NoLoops,
    /// The window contains nested windows or loops with lags, which do not run again.
    Units,
    /// The loop of this step, counted from 0, reads a stream that another step stores for each cycle.
    Reads(usize, VarId),
    /// A stream that the loop of this step stores has other readers than one loop in the other direction.
    Shared(usize, VarId),
}

/// The length of chunks: the square root of `n_cycles`, rounded up.
pub fn chunk_length(n_cycles: u64) -> u64 {
    let root = n_cycles.isqrt();
    if root * root < n_cycles { root + 1 } else { root }
}

/// The chunks of a window, in the order of a loop in this direction.
pub fn chunks(n_cycles: usize, direction: Direction) -> Vec<Range<usize>> {
    let length = usize::try_from(chunk_length(n_cycles as u64)).unwrap_or(n_cycles).max(1);
    let chunk = |start: usize| match direction {
        Direction::Forward => start..(start + length).min(n_cycles),
        Direction::Backward => n_cycles.saturating_sub(start + length)..n_cycles - start,
    };
    (0..n_cycles).step_by(length).map(chunk).collect()
}
