//! What a session announces while it works: long compilations, and what its user should know before the
//! answer is there.

use eddy_syntax::Sources;

use crate::disagreement::Disagreement;

/// Hears what a session announces. It is called on the thread that made the request, which waits until it
/// returns.
pub trait Listener: Send + Sync {
    /// Something happened.
    fn hear(&self, event: Event);
}

/// What is announced.
#[derive(Clone, Debug)]
pub enum Event {
    /// The C compiler is about to be called.
    Compiling {
        /// What is compiled.
        node: String,
        /// How many lines of C it is.
        n_lines: usize,
    },
    /// The C compiler is done.
    Compiled {
        /// What was compiled.
        node: String,
        /// How long that took.
        seconds: f64,
        /// Whether the machine code is in the cache now.
        is_kept: bool,
    },
    /// The machine code was in the cache, so the C compiler is not called.
    FoundCompiled {
        /// What was found.
        node: String,
    },
    /// There is no machine code, so the simulator runs the program.
    NotCompiled {
        /// What was to be compiled.
        node: String,
        /// Why it is not.
        reason: String,
    },
    /// The simulator is too slow to confirm the first cycles of compiled code.
    NotCompared {
        /// What runs compiled.
        node: String,
    },
    /// Compiled code was found to be wrong; the simulator goes on.
    Disagreement {
        /// The files that the warning points into.
        sources: Sources,
        /// What differs, and the files that show it again.
        found: Box<Disagreement>,
    },
    /// Why there is no answer yet, or what is unusual about the way to it.
    Remark(String),
}

/// Hears nothing.
#[derive(Clone, Copy, Debug)]
pub struct Deaf;

impl Listener for Deaf {
    fn hear(&self, _: Event) {}
}
