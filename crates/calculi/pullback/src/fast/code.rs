//! Flat code: one block per λ, dual map and pullback; a value per slot.
//!
//! `let`s need no instruction: a variable is the slot of its value. Neither do `flat` and `sharp`, since
//! vectors and covectors of Euclidean types have the same representation. A pattern `<x1, …, xn>` is n loads
//! from one tuple.

use crate::primitive::PrimId;
use crate::primitive::calculus::{Binary, Unary};
use crate::syntax::{Path, TermId};
use crate::types::Type;

eddy_index::id! {
    /// A block of code.
    pub struct BlockId, "fewer blocks than terms";
}

/// The place of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// A slot of the frame.
    Slot(u32),
    /// A constant.
    Real(f64),
}

/// A function body without its argument: its block, and the values that it captures.
#[derive(Clone, Debug)]
pub struct Abstraction {
    pub block: BlockId,
    /// The captured values, in the frame that makes it.
    pub captures: Box<[Operand]>,
}

/// One instruction; it writes its result to a slot.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The slot of the result.
    pub to: u32,
    /// The term that it was made for.
    pub origin: TermId,
    pub action: Action,
}

#[derive(Clone, Debug)]
pub enum Action {
    /// `0`.
    Zero(Type),
    Unary(Unary, Operand),
    Binary(Binary, Operand, Operand),
    /// A primitive, on a tuple of reals.
    Prim(PrimId, Operand),
    /// `s + t` at another type than `R`.
    Add(Type, Operand, Operand),
    /// A tuple of items; if `extends`, the first item is itself a tuple, and the others are appended to it.
    Tuple {
        /// Whether the first item is a tuple to extend.
        extends: bool,
        items: Box<[Operand]>,
    },
    /// A chain of projections.
    Project(Path, Operand),
    /// `λx.t`.
    Closure(Abstraction),
    /// `s t`, where `s` has this type.
    Apply(Type, Operand, Operand),
    /// `(Ω λx.p)·w`, with the signature of `λx.p`.
    Pullback(Abstraction, Operand, Signature),
    /// `(λx.s)^*·t`, with the signature of `λx.s`.
    Dual(Abstraction, Operand, Signature),
    /// `J s·t`, where `s` has this type.
    Jacobian(Type, Operand, Operand),
    /// `J f·t`.
    PrimJacobian(PrimId, Operand),
    /// `s @ t`, where `t` has this type.
    Contract(Type, Operand, Operand),
}

/// The types of the argument and the result of a differentiated function.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    pub from: Type,
    pub to: Type,
    /// Whether the result is a constant, so that the 1-form on it is not evaluated (rule 9).
    pub is_constant: bool,
}

/// The code of one body. Slot 0 is its argument.
#[derive(Clone, Debug)]
pub struct Block {
    pub instructions: Vec<Instruction>,
    pub result: Operand,
    pub n_slots: u32,
    /// The slots of captured values, in the order of [`Abstraction::captures`].
    pub captured: Vec<u32>,
}

/// The code of a program.
#[derive(Clone, Debug)]
pub struct Code {
    pub blocks: Vec<Block>,
    /// The block of the main expression, whose argument is not used.
    pub main: BlockId,
}
