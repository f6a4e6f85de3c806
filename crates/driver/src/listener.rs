//! Announcements of a session while it works: long compilations, and remarks that come before the answer.

use eddy_syntax::Sources;

use crate::disagreement::Disagreement;

/// Receives the announcements of a session. It is called on the thread that made the request, which waits
/// until the call returns.
pub trait Listener: Send + Sync {
    /// An event happened.
    fn hear(&self, event: Event);
}

/// An announcement.
#[derive(Clone, Debug)]
pub enum Event {
    /// The C compiler is about to be called.
    Compiling {
        /// The name of the program.
        node: String,
        /// The number of lines of C.
        n_lines: usize,
    },
    /// The C compiler has finished.
    Compiled {
        /// The name of the program.
        node: String,
        /// The seconds that the compiler took.
        seconds: f64,
        /// Whether the machine code is in the cache now.
        is_kept: bool,
    },
    /// The machine code was in the cache, so the C compiler is not called.
    FoundCompiled {
        /// The name of the program.
        node: String,
    },
    /// There is no machine code, so the simulator runs the program.
    NotCompiled {
        /// The name of the program.
        node: String,
        /// The reason.
        reason: String,
    },
    /// The simulator is too slow to confirm the first cycles of compiled code.
    NotCompared {
        /// The name of the compiled program.
        node: String,
    },
    /// Compiled code is wrong; the simulator continues.
    Disagreement {
        /// The files that the warning refers to.
        sources: Sources,
        /// What differs, and the files that reproduce it.
        found: Box<Disagreement>,
    },
    /// The reason for a delay, or another remark.
    Remark(String),
}

/// Ignores all announcements.
#[derive(Clone, Copy, Debug)]
pub struct Deaf;

impl Listener for Deaf {
    fn hear(&self, _: Event) {}
}
