//! The state of the machine: its next action, its continuations, and why it stops.

use super::code::{BlockId, Signature};
use super::contract::Contraction;
use super::forward::{Derived, Running};
use super::heap::Value;
use super::lazy::{Function, Lazy};
use crate::outcome::Stop;
use crate::types::Type;

/// Why the machine stops before it has a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Halt {
    /// The run has no value.
    Stopped(Stop),
    /// A function that this level tracks is called on a number of a higher level: see [`super::lazy`].
    UntrackableCall(u32),
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        Halt::Stopped(stop)
    }
}

/// The next action.
#[derive(Clone, Debug)]
pub enum Control {
    /// The next instruction.
    Run,
    /// A value for the innermost frame.
    Return(Value),
    /// A call: the type of the function, the function, the argument.
    Apply(Type, Value, Value),
    Halted(Halt),
}

/// A continuation: the construct that waits, the value that it waits for, and the data to continue with.
#[derive(Debug)]
pub enum Frame {
    /// A block, for the result of an instruction.
    Block(Activation, u32),
    /// A tracked function, for the result of its call: level, node, argument, type of the result.
    Join(u32, u32, Value, Type),
    /// `(f + g) z`, for `f z`: the type of `g`, `g` and `z`.
    SumFirst(Type, Value, Value),
    /// `(f + g) z`, for `g z`: the type, and `f z`.
    SumSecond(Type, Value),
    /// A pullback, for the value of its function: the 1-form, and the point on the tape.
    PullbackBody(Value, Value, Signature),
    /// A pullback, for its covector: the value of its function, and the point on the tape.
    PullbackForm(Value, Value, Signature),
    /// A dual map, for the value of its function: the covector, and the variable on the tape.
    DualBody(Value, Value, Signature),
    /// A pullback or a dual map, for the contraction of its covector: the point on the tape, and its type.
    Seed(Value, Type),
    /// A contraction, for one of its parts.
    Contraction(Box<Contraction>),
    /// A forward derivative, for the value of its function or the next use of that value.
    Derivative(Box<Running>),
    /// A forward derivative, for its contraction: the covector on the tape, and the type.
    DerivativeSeed(Value, Type),
    /// A forward derivative, for the next of its leaves.
    DerivedLeaves(Box<Derived>, Vec<Value>),
    /// A pullback that tracks no functions, for the value at its point: the function, the 1-form, the point.
    LazyForm(Function, Value, Value),
    /// A pullback that tracks no functions, for its covector: the function and the point.
    LazyCovector(Function, Value),
    /// A pullback or a dual map that tracks no functions, for the next leaf of its covector.
    LazyLeaves(Box<Lazy>, Vec<Value>),
    /// A functional that is applied, for the value of its function: the covector, and the type.
    LazyValue(Value, Type),
    /// A functional that is applied, for the number to differentiate with respect to `ε`.
    LazySeed(Value),
    /// A function times a number, for its value: the type and the number.
    Scaled(Type, Value),
}

/// A running block.
#[derive(Clone, Copy, Debug)]
pub struct Activation {
    pub(super) block: BlockId,
    pub(super) next: u32,
    pub(super) base: u32,
}
