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
                    "`{waiting}` waits for later cycles, and `{other}` is on an unrelated clock: nothing bounds how many cycles of it would have to be kept meanwhile"
                )
            }
            NotCompiled::Unknown(stream) => {
                write!(f, "it runs when all of the trace is there, and {stream} may be unknown at the end")
            }
            NotCompiled::Calls(function) => {
                write!(f, "it applies `{function}`, which has no derivative")
            }
            NotCompiled::InternalError(violation) => {
                write!(f, "the code that was made for it is wrong, which is a mistake of Eddy: {violation}")
            }
            NotCompiled::Fails(stream) => {
                write!(
                    f,
                    "windows end where nothing waits, and {stream}, which a loop inside of them computes, is unknown there, but an operation that may fail needs it"
                )
            }
        }
    }
}
