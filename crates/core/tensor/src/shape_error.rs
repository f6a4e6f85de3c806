//! Shape errors and their messages.
//!
//! Every message contains one of the words by which users and tests recognise a shape error: shape,
//! broadcast, matmul, reshape, concatenate, out of range.

use std::fmt;

use crate::shape::{MAX_ELEMENTS, Shape};

/// Why an operation does not apply to operands of these shapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// Two operands do not broadcast.
    Broadcast { left: Shape, right: Shape },
    /// An operand does not broadcast to the requested shape.
    Stretch { from: Shape, to: Shape },
    /// An operand cannot be summed down to the requested shape.
    Reduce { from: Shape, to: Shape },
    /// Two shapes should be equal.
    Different { left: Shape, right: Shape },
    /// The operation requires a different number of axes.
    Rank {
        op: &'static str,
        /// The requirement, as in "a matrix".
        needs: &'static str,
        found: Shape,
    },
    /// The inner sizes of a product of matrices differ.
    Matmul { left: Shape, right: Shape },
    /// The number of elements would change.
    Reshape { from: Shape, to: Shape },
    /// Two operands differ in more than their number of rows.
    Concat { left: Shape, right: Shape },
    /// The operand has no such axis.
    Axis { axis: usize, shape: Shape },
    /// A new axis cannot have this position.
    NewAxis { axis: usize, shape: Shape },
    /// The operand has no such row.
    Index { index: usize, shape: Shape },
    /// A slice starts after its end or ends outside of its operand.
    Rows {
        lo: usize,
        /// Excluded.
        hi: usize,
        shape: Shape,
    },
    /// The padded operand does not fit into the result.
    Pad {
        /// The row where the operand begins.
        lo: usize,
        /// The number of rows of the result.
        n: usize,
        shape: Shape,
    },
    /// The axis does not have room for such windows.
    Windows {
        /// The size of a window.
        size: usize,
        /// The distance between starts.
        stride: usize,
        /// The size of the axis.
        n: usize,
        shape: Shape,
    },
    /// The operands of a convolution do not match.
    Convolution { op: &'static str, left: Shape, right: Shape, reason: &'static str },
    /// A maximum over no elements.
    Empty { op: &'static str, shape: Shape },
    /// More than [`MAX_ELEMENTS`] elements.
    TooLarge(Shape),
    /// The number of elements does not match the shape.
    Length { shape: Shape, found: usize },
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
            ShapeError::Windows { size, stride, n, shape } => {
                write!(f, "windows of {size}, {stride} apart, are out of range of {n} for shape {shape}")
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

/// The number of elements of a shape, which may be too large to count.
struct Count<'a>(&'a Shape);

impl fmt::Display for Count<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.n_elements() {
            Ok(n) => write!(f, "{n}"),
            Err(_) => write!(f, "more than {MAX_ELEMENTS}"),
        }
    }
}
