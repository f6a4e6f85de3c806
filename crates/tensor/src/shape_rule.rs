//! How the shapes of operands and result depend on each other, in a form that inference can use both ways.

use crate::shape::Shape;
use crate::shape_error::ShapeError;

/// A relation between the shapes of operands and result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeRule {
    /// All operands and the result have one shape.
    Equal,
    /// The operands broadcast to the result.
    Broadcast,
    /// The first operand is a scalar; the others and the result have one shape.
    If,
    /// All operands have one shape; the result has one axis more in front, their number.
    Stack,
    /// The result has the shape of this operand; the others have shapes of their own.
    Like(usize),
    /// The result has this shape, whatever the operands are.
    Fixed(Shape),
    /// The result's shape is a function of the operands' shapes; nothing can be said the other way.
    Function,
}

impl ShapeRule {
    /// The shape of the result where the rule alone says it.
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
