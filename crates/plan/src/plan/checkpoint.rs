//! Checkpoints (section 7): memory of the order of the square root of the window, for one more loop forwards.
//!
//! A loop backwards reads what a loop forwards computed, in the opposite order. Rather than keep all of it, the loop forwards puts aside its
//! registers every `C` cycles, where `C` is the square root of the length of the window, rounded up. Before the loop
//! backwards goes down through such a *chunk*, the loop forwards runs over it once more, from the registers that were put aside, and
//! what it computes is kept for the cycles of this chunk alone.

use eddy_flow::VarId;

use super::{BufferId, Sweep};

/// A loop forwards that is run again, chunk by chunk.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The step that puts its registers aside where a chunk begins. It does not write the buffers.
    pub forward: usize,
    /// The later step, a loop backwards, that alone reads the buffers.
    pub backward: usize,
    /// The loop forwards once more, over the cycles of one chunk: it writes the buffers and nothing else.
    pub again: Sweep,
    /// The registers that are put aside, besides all trackers. Chunks have two cycles at least, unless the window has one only: what is
    /// read of the first cycle alone is not among them.
    pub registers: Vec<VarId>,
    /// What it writes; each has an entry for each cycle of a chunk, one for the cycle before and one for the cycle after.
    pub buffers: Vec<BufferId>,
    /// Those of them that are read at the cycle before: where a chunk begins, that is in the register of the stream.
    pub behind: Vec<(VarId, BufferId)>,
    /// Those of them that are read at the cycle after: the first entry of the later chunk is kept.
    pub ahead: Vec<(VarId, BufferId)>,
}

/// Why there are no checkpoints, or not everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCheckpoint {
    /// No loop forwards keeps anything for a loop backwards.
    NoLoops,
    /// There are windows inside the window, or late loops.
    Units,
    /// The loop of this step, from 0, reads a stream that another step keeps for each cycle.
    Reads(usize, VarId),
    /// What the loop of this step keeps of a stream is not for one loop backwards alone.
    Shared(usize, VarId),
}

/// The length of chunks in a window of so many cycles: its square root, rounded up.
pub fn chunk_length(n_cycles: u64) -> u64 {
    let root = n_cycles.isqrt();
    if root * root < n_cycles { root + 1 } else { root }
}
