//! An operation applied to each slice along the last axis of its operands.
//!
//! The streams of a batch lie along a last axis, but some operations have a fixed number of axes: matrix
//! products, convolutions, `argmax`. [`Each`] applies such an operation to each stream and puts the results
//! along a last axis:
//!
//! ```
//! use eddy_tensor::{Each, Op, Shape};
//! let products = Op::Each(Each::new(Op::Matmul, &[true, true]));
//! let shape = products.shape(&[&Shape::new(&[2, 3, 10]), &Shape::new(&[3, 10])]);
//! assert_eq!(shape, Ok(Shape::new(&[2, 10])));
//! ```
//!
//! `Each` is not in the table: no program can call it, and it is never differentiated, because batching comes
//! after differentiation.

use crate::algebra::{Algebra, Site};
use crate::op::Op;
use crate::operation::{EvalError, Operation};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::Signature;
use crate::slices::{split, stack};
use crate::value::Value;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Each {
    op: Box<Op>,
    is_wide: Box<[bool]>,
}

impl Each {
    /// `is_wide` says which operands are sliced along their last axis; all slices share the others. At least
    /// one is wide.
    pub fn new(op: Op, is_wide: &[bool]) -> Each {
        assert!(is_wide.contains(&true), "there are as many results as slices of some operand");
        Each { op: Box::new(op), is_wide: is_wide.into() }
    }

    /// The operation that is applied to each slice.
    pub fn op(&self) -> &Op {
        &self.op
    }

    /// For each operand whether it has an axis for the slices.
    pub fn is_wide(&self) -> &[bool] {
        &self.is_wide
    }

    /// The number of slices, and the shape of each operand within a slice.
    fn slices(&self, operands: &[&Shape]) -> Result<(usize, Vec<Shape>), ShapeError> {
        let mut first: Option<(usize, &Shape)> = None;
        let mut own = Vec::with_capacity(operands.len());
        for (operand, is_wide) in operands.iter().zip(&self.is_wide) {
            if !is_wide {
                own.push((*operand).clone());
                continue;
            }
            let (n, slice) = match operand.split_last() {
                Some((n, slice)) if *n > 0 => (*n, slice),
                _ => return Err(self.refused("a slice of each operand", operand)),
            };
            match first {
                Some((other, left)) if other != n => {
                    return Err(ShapeError::Different { left: left.clone(), right: (*operand).clone() });
                }
                _ => first = Some((n, operand)),
            }
            own.push(Shape::new(slice));
        }
        let (n, _) = first.expect("one operand is wide");
        Ok((n, own))
    }

    fn refused(&self, needs: &'static str, found: &Shape) -> ShapeError {
        ShapeError::Rank { op: self.op.row_name(), needs, found: found.clone() }
    }
}

impl Operation for Each {
    fn signature(&self) -> Signature {
        self.op.signature()
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        let (n, own) = self.slices(operands)?;
        let shape = self.op.shape(&own.iter().collect::<Vec<_>>())?;
        let shape = shape.with_axis(shape.len(), n);
        shape.n_elements()?;
        Ok(shape)
    }

    /// Fails if any slice fails, with the error of the first.
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let slices: Vec<Vec<Value>> = operands
            .iter()
            .zip(&self.is_wide)
            .map(|(operand, is_wide)| if *is_wide { split(operand) } else { Vec::new() })
            .collect();
        let n = slices.iter().map(Vec::len).max().expect("there are operands");
        let results: Result<Vec<Value>, EvalError> = (0..n)
            .map(|slice| {
                let own: Vec<&Value> = operands
                    .iter()
                    .zip(&slices)
                    .map(|(operand, own)| own.get(slice).unwrap_or(operand))
                    .collect();
                self.op.eval(&own)
            })
            .collect();
        let results = results?;
        Ok(stack(&results.iter().collect::<Vec<_>>()))
    }

    fn is_differentiable_in(&self, operand: usize) -> bool {
        self.op.is_differentiable_in(operand)
    }

    fn vjp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, _: &A::Value, _: &mut A) -> A::Value {
        unreachable!("streams are differentiated before they become a batch")
    }

    fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, _: &A::Value, _: &mut A) -> A::Value {
        unreachable!("streams are differentiated before they become a batch")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    fn each(op: Op, is_wide: &[bool]) -> Op {
        Op::Each(Each::new(op, is_wide))
    }

    #[test]
    fn results_lie_side_by_side() {
        check(&each(Op::Argmax, &[true]), &["[[1.0,5.0,3.0],[4.0,2.0,4.0]]"], "int [3] [1,0,1]");
        check(&each(Op::Onehot(3), &[true]), &["[2,0]"], "num [3,2] [[0,1],[0,0],[1,0]]");
        let (left, right) = ("[[1.0,10.0],[2.0,20.0]]", "[[3.0,1.0],[4.0,2.0]]");
        check(&each(Op::Matmul, &[true, true]), &[left, right], "num [2] [11,50]");
        check(&each(Op::Transpose, &[true]), &["[[[1,2],[3,4]]]"], "int [2,1,2] [[[1,2]],[[3,4]]]");
    }

    #[test]
    fn all_slices_share_operands_that_are_not_wide() {
        let matrices = "[[[1.0,5.0],[2.0,6.0]]]";
        check(&each(Op::Matmul, &[true, false]), &[matrices, "[1.0,10.0]"], "num [1,2] [[21,65]]");
        check(&each(Op::Matmul, &[false, true]), &["[1.0,10.0]", "[[1.0,5.0],[2.0,6.0]]"], "num [2] [21,65]");
    }

    #[test]
    fn an_error_in_one_slice_is_an_error() {
        check(&each(Op::Onehot(3), &[true]), &["[1,7,2]"], "the index 7 is out of range of onehot");
    }

    #[test]
    fn slices_obey_the_shape_rules() {
        let products = each(Op::Matmul, &[true, true]);
        check(&products, &["[[1.0,2.0]]", "[[1.0,2.0,3.0]]"], "shapes [1,2] and [1,3] should be equal");
        check(&products, &["1.0", "[[1.0]]"], "matmul needs a slice of each operand, not shape []");
        let sentence = "matmul of shapes [2] and [1]: the inner sizes differ";
        check(&products, &["[[1.0],[2.0]]", "[[1.0]]"], sentence);
    }

    #[test]
    fn it_has_the_name_of_the_applied_operation() {
        assert_eq!(each(Op::Onehot(3), &[true]).name(), "onehot");
        assert_eq!(each(Op::Onehot(3), &[true]).statics(), Op::Onehot(3).statics());
    }
}
