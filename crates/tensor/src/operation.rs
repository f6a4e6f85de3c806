//! What an operation is: the trait that every entry of the table implements.
//!
//! An entry says everything about one operation: its typing, its shape rule, its value, and its derivatives in both
//! directions. Derivatives are written with the operations of the table, on any [`Algebra`], so they can be
//! evaluated, printed, compiled, and differentiated again.
//!
//! Reading an entry, x₁, x₂ are the operands, y the result, g the cotangent of y and t the tangent of an operand.

use std::fmt;

use crate::algebra::{Algebra, Site};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::Signature;
use crate::value::Value;

/// An entry of the operation table.
pub(crate) trait Operation {
    /// The scalar types of operands and result.
    fn signature(&self) -> Signature;

    /// How the shapes depend on each other.
    fn shape_rule(&self) -> ShapeRule;

    /// The shape of the result; entries whose rule says less than the whole truth replace this.
    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        self.shape_rule().shape(operands)
    }

    /// The result. The operands have passed the typing and shape rules.
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError>;

    /// Whether cotangents and tangents pass through this operand, provided that it is a `num`.
    fn is_differentiable_in(&self, _operand: usize) -> bool {
        false
    }

    /// V(f,i): what the cotangent `g` of the result contributes to that of an operand.
    fn vjp<A: Algebra>(
        &self,
        _operand: usize,
        _site: &Site<'_, A::Value>,
        _g: &A::Value,
        _algebra: &mut A,
    ) -> A::Value {
        unreachable!("an operation that is differentiable says how")
    }

    /// T(f,i), the transpose of V(f,i): what the tangent `t` of an operand contributes to that of the result.
    fn jvp<A: Algebra>(
        &self,
        _operand: usize,
        _site: &Site<'_, A::Value>,
        _t: &A::Value,
        _algebra: &mut A,
    ) -> A::Value {
        unreachable!("an operation that is differentiable says how")
    }
}

/// Why an operation has no value at these operands. It carries at most half a word, so that a result stays two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// `div` or `mod` by zero.
    DivisionByZero,
    /// An integer result beyond 64 bits.
    IntegerOverflow,
    /// `int` of a number that no 64-bit integer is near to, or of NaN.
    IntOutOfRange,
    /// `onehot` of an index outside the vector.
    OnehotOutOfRange {
        /// The index, or the nearest one of 32 bits.
        index: i32,
    },
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
