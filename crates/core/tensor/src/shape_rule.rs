//! How the shapes of operands and result depend on each other, in a form that inference can use in both
//! directions.

use crate::shape::Shape;
use crate::shape_error::ShapeError;

/// A relation between the shapes of operands and result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeRule {
    /// All operands and the result have the same shape.
    Equal,
    /// The operands broadcast to the result.
    Broadcast,
    /// The first operand is a scalar; the others and the result have the same shape.
    If,
    /// All operands have the same shape; the result has one more axis in front, whose size is their number.
    Stack,
    /// The result has the shape of this operand; the others are independent.
    Like(usize),
    /// The result has this shape, independent of the operands.
    Fixed(Shape),
    /// The shape of the result is a function of the shapes of the operands, and implies nothing about them.
    Function,
}

impl ShapeRule {
    /// The shape of the result, for rules that determine it.
    pub(crate) fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        match self {
            ShapeRule::Equal => all_equal(operands),
            ShapeRule::Broadcast => {
                operands.iter().try_fold(Shape::scalar(), |shape, operand| shape.broadcast(operand))
            }
            ShapeRule::If => {
                let (condition, branches) = operands.split_first().expect("`if` has a condition");
                if !condition.is_scalar() {
                    let found = (*condition).clone();
                    return Err(ShapeError::Rank { op: "if", needs: "a scalar condition", found });
                }
                all_equal(branches)
            }
            ShapeRule::Stack => Ok(all_equal(operands)?.with_axis(0, operands.len())),
            ShapeRule::Like(_) | ShapeRule::Fixed(_) | ShapeRule::Function => {
                unreachable!("an operation with such a rule has conditions of its own")
            }
        }
    }
}

fn all_equal(operands: &[&Shape]) -> Result<Shape, ShapeError> {
    let (first, others) = operands.split_first().expect("there is an operand");
    match others.iter().find(|other| other != &first) {
        Some(other) => Err(ShapeError::Different { left: (*first).clone(), right: (*other).clone() }),
        None => Ok((*first).clone()),
    }
}
