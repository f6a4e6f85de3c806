//! The failures of a run, and their messages.

use std::error::Error;
use std::fmt;

use eddy_syntax::Span;
use eddy_tensor::{EvalError, Shape, ShapeError};

/// A failure and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// The cause.
    pub failure: Failure,
    /// The statement.
    pub span: Span,
    /// The body of the statement.
    pub body: String,
}

/// The cause of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An index outside of a tensor.
    Index {
        /// The index.
        index: i64,
        /// The tensor.
        shape: Shape,
    },
    /// A range that is not inside of its axis.
    Range {
        /// The first index.
        lo: i64,
        /// The index after the last one.
        hi: i64,
        /// The tensor.
        shape: Shape,
    },
    /// An integer beyond 64 bits.
    Overflow,
    /// A division by zero.
    Division,
    /// A size is not the one that is required.
    Size {
        /// The size.
        found: i64,
        /// The required size.
        required: i64,
    },
    /// A size below zero.
    Negative(i64),
    /// Shapes that do not fit.
    Shape(ShapeError),
    /// An empty tensor or range where an element is required.
    Empty,
    /// Too many steps.
    Fuel,
    /// Too many calls inside of each other.
    Depth,
    /// Too much memory.
    Memory,
    /// A derivative of an order that is too high.
    Order,
}

impl From<ShapeError> for Failure {
    fn from(error: ShapeError) -> Failure {
        match error {
            ShapeError::Empty { .. } => Failure::Empty,
            ShapeError::TooLarge(_) => Failure::Memory,
            other => Failure::Shape(other),
        }
    }
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Failure {
        match error {
            EvalError::DivisionByZero => Failure::Division,
            EvalError::IntegerOverflow | EvalError::IntOutOfRange => Failure::Overflow,
            EvalError::Function(_) => unreachable!("bodies call each other by statements"),
            EvalError::OnehotOutOfRange { index } | EvalError::RowOutOfRange { index } => {
                Failure::Index { index: i64::from(index), shape: Shape::scalar() }
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Index { index, shape } => write!(f, "index {index} is out of range for shape {shape}"),
            Failure::Range { lo, hi, shape } => {
                write!(f, "range {lo}..{hi} is out of range for shape {shape}")
            }
            Failure::Overflow => f.write_str("integer overflow"),
            Failure::Division => f.write_str("division by zero"),
            Failure::Size { found, required } => {
                write!(f, "size error: a size is {found} where {required} is required")
            }
            Failure::Negative(n) => write!(f, "size error: a size is {n}, which is negative"),
            Failure::Shape(error) => write!(f, "shape error: {error}"),
            Failure::Empty => f.write_str("an empty range has nothing to choose from or to add"),
            Failure::Fuel => f.write_str("out of fuel"),
            Failure::Depth => f.write_str("calls are nested too deeply: the depth limit is reached"),
            Failure::Memory => f.write_str("out of memory: the limit on tensors is reached"),
            Failure::Order => f.write_str("the derivative order is too high"),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (in `{}`)", self.failure, self.body)
    }
}

impl Error for RunError {}
