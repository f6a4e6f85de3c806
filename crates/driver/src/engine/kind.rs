//! The engines by name.

use std::fmt;
use std::str::FromStr;

use eddy_language::tree::Semantics;
use eddy_syntax::suggest::{UnknownName, named};

/// An engine that runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// Machine code.
    Compiled,
    /// The operational semantics, event-driven.
    Simulate,
    /// The denotational semantics, a least fixpoint over the whole trace.
    Denote,
    /// Kahn's semantics, on lists.
    Kahn,
}

impl EngineKind {
    /// All engines; the first is the default.
    pub const ALL: [EngineKind; 4] =
        [EngineKind::Compiled, EngineKind::Simulate, EngineKind::Denote, EngineKind::Kahn];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Compiled => "compiled",
            EngineKind::Simulate => "simulate",
            EngineKind::Denote => "denote",
            EngineKind::Kahn => "kahn",
        }
    }

    /// The semantics that it computes.
    pub fn semantics(self) -> Semantics {
        match self {
            EngineKind::Compiled | EngineKind::Simulate => Semantics::Operational,
            EngineKind::Denote => Semantics::Denotational,
            EngineKind::Kahn => Semantics::Kahn,
        }
    }

    /// Whether it gives no output before the trace is complete.
    pub fn is_whole(self) -> bool {
        matches!(self, EngineKind::Denote | EngineKind::Kahn)
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for EngineKind {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<EngineKind, UnknownName> {
        named(name, &EngineKind::ALL, EngineKind::name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_one_engine_or_none() {
        for kind in EngineKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        for name in ["", "Compiled", "simulated", "denot"] {
            let unknown = name.parse::<EngineKind>().expect_err("no engine has this name");
            assert_eq!(unknown.known, ["compiled", "simulate", "denote", "kahn"]);
        }
    }
}
