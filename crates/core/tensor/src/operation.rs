//! The trait that every entry of the operation table implements.
//!
//! An entry defines one operation completely: its typing, its shape rule, its value, and its derivatives in
//! both directions. Derivatives are written with operations of the table, over any [`Algebra`], so they can
//! be evaluated, printed, compiled, and differentiated again.
//!
//! In the entries, x₁, x₂ are the operands, y is the result, g the cotangent of y, and t the tangent of an
//! operand.

use std::fmt;

use crate::algebra::{Algebra, Site};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::Signature;
use crate::value::Value;

/// An entry of the operation table.
pub(crate) trait Operation {
    fn signature(&self) -> Signature;

    fn shape_rule(&self) -> ShapeRule;

    /// The shape of the result. Entries whose rule does not determine it override this.
    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        self.shape_rule().shape(operands)
    }

    /// Evaluates the operation. The operands satisfy the typing and shape rules.
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError>;

    /// Whether derivatives pass through this operand, if it is a `num`.
    fn is_differentiable_in(&self, operand: usize) -> bool;

    /// V(f,i): the contribution of the cotangent `g` of the result to that of an operand.
    fn vjp<A: Algebra>(
        &self,
        operand: usize,
        site: &Site<'_, A::Value>,
        g: &A::Value,
        algebra: &mut A,
    ) -> A::Value;

    /// T(f,i), the transpose of V(f,i): the contribution of the tangent `t` of an operand to that of the
    /// result.
    fn jvp<A: Algebra>(
        &self,
        operand: usize,
        site: &Site<'_, A::Value>,
        t: &A::Value,
        algebra: &mut A,
    ) -> A::Value;
}

/// The derivatives of an entry without any: its result is piecewise constant or not a `num`.
macro_rules! no_derivative {
    () => {
        fn is_differentiable_in(&self, _: usize) -> bool {
            false
        }

        fn vjp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, _: &A::Value, _: &mut A) -> A::Value {
            unreachable!("no cotangent passes")
        }

        fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, _: &A::Value, _: &mut A) -> A::Value {
            unreachable!("no tangent passes")
        }
    };
}

pub(crate) use no_derivative;

/// Why an operation has no value at these operands. Its payload is at most four bytes, so that `Result<Value,
/// EvalError>` stays two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// `div` or `mod` by zero.
    DivisionByZero,
    /// An integer result does not fit into 64 bits.
    IntegerOverflow,
    /// `int` of NaN or of a number beyond 64 bits.
    IntOutOfRange,
    /// `onehot` of an index outside of the vector.
    OnehotOutOfRange {
        /// The index, clamped to 32 bits.
        index: i32,
    },
    /// `x[i]` of an index without a row.
    RowOutOfRange {
        /// The index, clamped to 32 bits.
        index: i32,
    },
    /// A function of the program failed; its [`Callee`](crate::Callee) knows how.
    Function(u32),
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::DivisionByZero => f.write_str("division by zero"),
            EvalError::IntegerOverflow => f.write_str("integer overflow"),
            EvalError::IntOutOfRange => f.write_str("the number is out of range of int"),
            EvalError::OnehotOutOfRange { index: i32::MIN | i32::MAX } => {
                f.write_str("an index beyond 32 bits is out of range of onehot")
            }
            EvalError::RowOutOfRange { index: i32::MIN | i32::MAX } => {
                f.write_str("an index beyond 32 bits is out of range")
            }
            EvalError::RowOutOfRange { index } => write!(f, "index {index} is out of range"),
            EvalError::Function(_) => f.write_str("a function fails"),
            EvalError::OnehotOutOfRange { index } => write!(f, "the index {index} is out of range of onehot"),
        }
    }
}

impl std::error::Error for EvalError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_two_words() {
        assert_eq!(size_of::<Result<Value, EvalError>>(), 16);
    }
}
