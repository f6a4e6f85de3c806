//! Running programs: the big-step semantics with closures and a heap (section 5).
//!
//! * [`machine`]: one arm per rule, with an explicit stack, so that neither deep terms nor deep recursion use
//!   the native stack.
//! * [`heap`]: closures, environments and pairs, and their garbage collection.

mod heap;
mod machine;

use std::fmt;
use std::str::FromStr;

use eddy_syntax::Span;
use eddy_syntax::suggest::{UnknownName, named};

pub use machine::{Counters, run};

/// An evaluator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Closures and a heap.
    #[default]
    Closures,
}

impl Engine {
    /// All engines, the default first.
    pub const ALL: [Engine; 1] = [Engine::Closures];

    /// The name for `--engine`.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Closures => "closures",
        }
    }
}

impl FromStr for Engine {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Engine, UnknownName> {
        named(name, &Engine::ALL, Engine::name)
    }
}

/// The limits of a run. A run that reaches a limit reports which one.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Applications of functions and to types.
    pub fuel: u64,
    /// Approximate bytes.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { fuel: 1_000_000, memory: 1 << 30 }
    }
}

/// The text of the value of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown(pub String);

/// Why a run ends without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunError {
    /// No rule applies to the term at this place.
    Stuck(Span, Stuck),
    /// The limit of applications was reached.
    Fuel(u64),
    /// It needs more memory than its limit.
    Memory(u64),
    /// An integer grew beyond [`MAX_BITS`](crate::integer::MAX_BITS).
    TooLarge(Span),
}

/// Why no rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// The applied term is not a function.
    NotAFunction,
    /// An operand is not an integer.
    NotAnInteger,
    /// A condition is not an integer.
    NotACondition,
    /// A division by zero.
    Zero,
    /// An operation of an ill-typed program.
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
