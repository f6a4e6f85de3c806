//! Reasons why a program is not compiled.

use std::fmt;

/// Why a program is not compiled: it runs in the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotCompiled {
    EventDriven,
    /// There is nothing to compute.
    Nothing,
    /// The program has several roots, and some streams wait for later cycles: one that waits, and one on
    /// another root.
    SeveralRoots(String, String),
    /// The program is one window, and a stream may be unknown at its end.
    Unknown(String),
    /// Where a window with a derived end ends, a loop inside of it may apply an operation that can fail to an
    /// unknown value.
    Fails(String),
    /// The program applies this function, whose derivative does not exist.
    Calls(String),
    /// The generated code does not verify; this is a bug in Eddy.
    InternalError(String),
}

impl fmt::Display for NotCompiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotCompiled::EventDriven => f.write_str("it has no static plan; `eddy plan` says why"),
            NotCompiled::Nothing => f.write_str("it computes nothing"),
            NotCompiled::SeveralRoots(waiting, other) => {
                write!(
                    f,
                    "`{waiting}` waits for later cycles, and `{other}` is on an unrelated clock: the number of its cycles that would have to be kept meanwhile is unbounded"
                )
            }
            NotCompiled::Unknown(stream) => {
                write!(f, "it runs at the end of the trace, where {stream} may be unknown")
            }
            NotCompiled::Calls(function) => {
                write!(f, "it applies `{function}`, which has no derivative")
            }
            NotCompiled::InternalError(violation) => {
                write!(f, "the generated code is invalid, which is a bug in Eddy: {violation}")
            }
            NotCompiled::Fails(stream) => {
                write!(
                    f,
                    "windows end where no stream waits; there {stream}, which a loop inside of the window computes, may be unknown, but an operation that may fail reads it"
                )
            }
        }
    }
}
