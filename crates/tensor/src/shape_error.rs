//! What can be wrong with the shapes of operands, and the sentence that says so.
//!
//! Every sentence contains one of the words by which the language's users and tests know a shape error: shape,
//! broadcast, matmul, reshape, concatenate, out of range.

use std::fmt;

use crate::shape::{MAX_ELEMENTS, Shape};

/// Why an operation does not apply to operands of these shapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// Two operands do not broadcast.
    Broadcast {
        /// The first operand.
        left: Shape,
        /// The second operand.
        right: Shape,
    },
    /// An operand does not stretch to the shape that was asked for.
    Stretch {
        /// The operand.
        from: Shape,
        /// What was asked for.
        to: Shape,
    },
    /// An operand cannot be summed down to the shape that was asked for.
    Reduce {
        /// The operand.
        from: Shape,
        /// What was asked for.
        to: Shape,
    },
    /// Two shapes should be equal.
    Different {
        /// The first.
        left: Shape,
        /// The second.
        right: Shape,
    },
    /// The operation works on other numbers of axes.
    Rank {
        /// The operation, as it is written.
        op: &'static str,
        /// What it works on, as in "a matrix".
        needs: &'static str,
        /// What it was given.
        found: Shape,
    },
    /// The inner sizes of a product of matrices differ.
    Matmul {
        /// The first operand.
        left: Shape,
        /// The second operand.
        right: Shape,
    },
    /// The number of elements would change.
    Reshape {
        /// The operand.
        from: Shape,
        /// What was asked for.
        to: Shape,
    },
    /// Two parts differ in more than their number of rows.
    Concat {
        /// The first part.
        left: Shape,
        /// The part that does not fit.
        right: Shape,
    },
    /// There is no such axis.
    Axis {
        /// The axis, from 0.
        axis: usize,
        /// The operand.
        shape: Shape,
    },
    /// There is no place for a new axis.
    NewAxis {
        /// The axis, from 0.
        axis: usize,
        /// The operand.
        shape: Shape,
    },
    /// There is no such row.
    Index {
        /// The row, from 0.
        index: usize,
        /// The operand.
        shape: Shape,
    },
    /// A slice begins after its end or ends outside its operand.
    Rows {
        /// The first row.
        lo: usize,
        /// The row after the last.
        hi: usize,
        /// The operand.
        shape: Shape,
    },
    /// The padded operand would stick out.
    Pad {
        /// The row where the operand begins.
        lo: usize,
        /// The number of rows of the result.
        n: usize,
        /// The operand.
        shape: Shape,
    },
    /// The operands of a convolution do not belong together.
    Convolution {
        /// Which of the three convolutions.
        op: &'static str,
        /// The first operand.
        left: Shape,
        /// The second operand.
        right: Shape,
        /// What does not fit.
        reason: &'static str,
    },
    /// There is no maximum of nothing.
    Empty {
        /// The operation, as it is written.
        op: &'static str,
        /// The operand.
        shape: Shape,
    },
    /// More than [`MAX_ELEMENTS`] elements.
    TooLarge(Shape),
    /// A tensor was given another number of elements than its shape says.
    Length {
        /// The shape.
        shape: Shape,
        /// The number of elements.
        found: usize,
    },
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::Broadcast { left, right } => write!(f, "shapes {left} and {right} do not broadcast"),
            ShapeError::Stretch { from, to } => write!(f, "shape {from} does not broadcast to {to}"),
            ShapeError::Reduce { from, to } => write!(f, "shape {from} cannot be summed down to {to}"),
            ShapeError::Different { left, right } => write!(f, "shapes {left} and {right} should be equal"),
            ShapeError::Rank { op, needs, found } => write!(f, "{op} needs {needs}, not shape {found}"),
            ShapeError::Matmul { left, right } => {
                write!(f, "matmul of shapes {left} and {right}: the inner sizes differ")
            }
            ShapeError::Reshape { from, to } => {
                write!(f, "cannot reshape {from} to {to}: {} elements are not {}", Count(from), Count(to))
            }
            ShapeError::Concat { left, right } => {
                write!(f, "cannot concatenate {left} and {right}: only the first sizes may differ")
            }
            ShapeError::Axis { axis, shape } => {
                write!(f, "axis {axis} is out of range for shape {shape}, ")?;
                match shape.len() {
                    0 => f.write_str("which has no axes"),
                    1 => f.write_str("whose only axis is 0"),
                    2 => f.write_str("whose axes are 0 and 1"),
                    n => write!(f, "whose axes are 0 to {}", n - 1),
                }
            }
            ShapeError::NewAxis { axis, shape } => {
                write!(f, "axis {axis} is out of range: a new axis of shape {shape} can ")?;
                if shape.is_empty() { f.write_str("only be 0") } else { write!(f, "be 0 to {}", shape.len()) }
            }
            ShapeError::Index { index, shape } => {
                write!(f, "index {index} is out of range for shape {shape}")
            }
            ShapeError::Rows { lo, hi, shape } => {
                write!(f, "rows {lo} to {hi} are out of range for shape {shape}")
            }
            ShapeError::Pad { lo, n, shape } => {
                write!(f, "shape {shape} placed at row {lo} is out of range of {n} rows")
            }
            ShapeError::Convolution { op, left, right, reason } => {
                write!(f, "{op} of shapes {left} and {right}: {reason}")
            }
            ShapeError::Empty { op, shape } => write!(f, "{op} of shape {shape} has nothing to choose from"),
            ShapeError::TooLarge(shape) => write!(f, "shape {shape} has more than {MAX_ELEMENTS} elements"),
            ShapeError::Length { shape, found } => {
                write!(f, "shape {shape} has {} elements, not {found}", Count(shape))
            }
        }
    }
}

impl std::error::Error for ShapeError {}

/// The number of elements of a shape that may be too large.
struct Count<'a>(&'a Shape);

impl fmt::Display for Count<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.n_elements() {
            Ok(n) => write!(f, "{n}"),
            Err(_) => write!(f, "more than {MAX_ELEMENTS}"),
        }
    }
}
