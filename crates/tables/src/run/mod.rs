//! Running programs: the big-step semantics with closures and a heap (section 5).
//!
//! * [`machine`]: one arm per rule, with a stack of its own, so that neither deep terms nor deep recursion use the native one.
//! * [`heap`]: where closures, environments and pairs live, and how what nobody reaches is given back.

mod heap;
mod machine;

use std::fmt;

use eddy_syntax::Span;

pub use machine::{Counters, run};

/// What a run may use. Reaching a limit is an outcome that says its name.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Applications of functions and to types.
    pub fuel: u64,
    /// Bytes, about.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { fuel: 1_000_000, memory: 1 << 30 }
    }
}

/// The value of a program, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown(pub String);

/// Why a run ends without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No rule applies to the term that stands here.
    Stuck(Span, Stuck),
    /// It was applied as often as it may be.
    Fuel(u64),
    /// It needs more memory than it may.
    Memory(u64),
    /// An integer grew beyond [`MAX_BITS`](crate::integer::MAX_BITS).
    TooLarge(Span),
}

/// Why no rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// Something that is no function was applied.
    NotAFunction,
    /// An operand is no integer.
    NotAnInteger,
    /// A condition is no integer.
    NotACondition,
    /// A division by zero.
    Zero,
    /// What only ill-typed programs do.
    IllTyped,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stuck::NotAFunction => "only functions are applied",
            Stuck::NotAnInteger => "operators take integers",
            Stuck::NotACondition => "a condition is an integer",
            Stuck::Zero => "division by zero",
            Stuck::IllTyped => "the term is ill typed",
        })
    }
}
