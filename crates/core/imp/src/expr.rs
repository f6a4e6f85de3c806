//! Expressions. They load from a [`Place`], and [`operators`](crate::operators) builds them in Rust.

use std::fmt;

use crate::intrinsic::Intrinsic;
use crate::name::Name;
use crate::place::Place;
use crate::types::Type;

/// A number that compares by bits: `-0.0` differs from `0.0`, and NaN equals itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number(u64);

impl Number {
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<f64> for Number {
    fn from(x: f64) -> Number {
        Number(x.to_bits())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

/// An expression with a scalar value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A number of the language, rounded in single precision.
    Num(Number),
    /// An integer of the language.
    Int(i64),
    Bool(bool),
    /// A literal of any count type: size, cycle, offset or status.
    Count(i64),
    Var(Name),
    /// An element of memory.
    Load(Place),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<[Expr; 2]>),
    /// Condition, yes, no. Only the chosen value is computed.
    Choice(Box<[Expr; 3]>),
    /// A function on elements that cannot fail.
    Call(Intrinsic, Vec<Expr>),
    /// A function on elements that can fail; then the procedure fails with the number of the equation.
    Checked(Intrinsic, Vec<Expr>, usize),
    /// Converts a count to another count type, or an integer to a number with one rounding.
    Cast(Type, Box<Expr>),
    /// The number of the first failed equation, or 0.
    Failure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-x`, for numbers and counts.
    Neg,
    /// `!x`.
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `x + y`, for numbers and counts.
    Add,
    /// `x - y`.
    Sub,
    /// `x * y`.
    Mul,
    /// `x / y`; for counts, rounded towards zero.
    Div,
    /// `x % y`, for counts.
    Rem,
    /// `x < y`.
    Lt,
    /// `x <= y`.
    Le,
    /// `x > y`.
    Gt,
    /// `x >= y`.
    Ge,
    /// `x == y`.
    Eq,
    /// `x != y`.
    Ne,
    /// `x & y`: both are evaluated.
    And,
    /// `x | y`: both are evaluated.
    Or,
    /// `x && y`: `y` is evaluated if `x` is true.
    AndThen,
    /// `x || y`: `y` is evaluated if `x` is false.
    OrElse,
}

impl Binary {
    pub const ALL: [Binary; 15] = [
        Binary::Add,
        Binary::Sub,
        Binary::Mul,
        Binary::Div,
        Binary::Rem,
        Binary::Lt,
        Binary::Le,
        Binary::Gt,
        Binary::Ge,
        Binary::Eq,
        Binary::Ne,
        Binary::And,
        Binary::Or,
        Binary::AndThen,
        Binary::OrElse,
    ];

    /// The symbol, here and in C.
    pub fn symbol(self) -> &'static str {
        match self {
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Mul => "*",
            Binary::Div => "/",
            Binary::Rem => "%",
            Binary::Lt => "<",
            Binary::Le => "<=",
            Binary::Gt => ">",
            Binary::Ge => ">=",
            Binary::Eq => "==",
            Binary::Ne => "!=",
            Binary::And => "&",
            Binary::Or => "|",
            Binary::AndThen => "&&",
            Binary::OrElse => "||",
        }
    }

    /// Whether it compares two numbers, integers or counts.
    pub fn is_comparison(self) -> bool {
        matches!(self, Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne)
    }

    /// Whether its operands and result are truth values.
    pub fn is_logical(self) -> bool {
        matches!(self, Binary::And | Binary::Or | Binary::AndThen | Binary::OrElse)
    }
}
