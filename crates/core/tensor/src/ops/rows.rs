//! Rows at an index that is only known at run time: `x[i]`, and `place(n, i, g)`, its transpose
//! (composition.md, section 6).
//!
//! Both read the index and one row only, so the other rows may be infinite. An index without a row is an
//! error.

use crate::algebra::{Algebra, Formula, Site};
use crate::element::{Element, with_element, with_float};
use crate::op::Op;
use crate::operation::{EvalError, Operation};
use crate::ops::structure::{has_rows, row_size, run_of};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::{ALPHA, INT, NUM, Signature};
use crate::value::Value;

/// `x[i]`: the row of x at the index i.
pub(crate) struct Row;

impl Operation for Row {
    fn signature(&self) -> Signature {
        Signature::any(&[ALPHA, INT], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        has_rows("index", operands[0])?;
        is_index(operands[1])?;
        Ok(operands[0].without_axis(0))
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let shape = operands[0].shape();
        let row = number(operands[1], shape[0])?;
        let shape = shape.without_axis(0);
        Ok(with_element!(operands[0], T => run_of::<T>(operands[0], row * shape.size(), shape)))
    }

    fn is_differentiable_in(&self, operand: usize) -> bool {
        operand == 0
    }

    // place(n,i,g)
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.two(Op::Place(s.shapes[0][0]), &s.operands[1], g)
    }

    // t[i]
    fn jvp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.two(Op::Row, t, &s.operands[1])
    }
}

/// `place(n, i, g)`: g as the row i among n rows; the others are +0.
pub(crate) struct Place(pub usize);

impl Operation for Place {
    fn signature(&self) -> Signature {
        Signature::any(&[INT, NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        is_index(operands[0])?;
        let shape = operands[1].with_axis(0, self.0);
        shape.n_elements()?;
        Ok(shape)
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let row = number(operands[0], self.0)?;
        let shape = operands[1].shape().with_axis(0, self.0);
        Ok(with_float!(operands[1], F => placed::<F>(operands[1], row * row_size(&shape), shape)))
    }

    fn is_differentiable_in(&self, operand: usize) -> bool {
        operand == 1
    }

    // g[i]
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.two(Op::Row, g, &s.operands[0])
    }

    // place(n,i,t)
    fn jvp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.two(Op::Place(self.0), &s.operands[0], t)
    }
}

fn is_index(shape: &Shape) -> Result<(), ShapeError> {
    if shape.is_scalar() {
        return Ok(());
    }
    Err(ShapeError::Rank { op: "index", needs: "a scalar index", found: shape.clone() })
}

/// The index, if there is such a row.
fn number(index: &Value, n_rows: usize) -> Result<usize, EvalError> {
    let Value::Int(index) = index else { unreachable!("operands passed the rules: one integer") };
    let row = usize::try_from(*index).ok().filter(|row| *row < n_rows);
    // An index beyond 32 bits is out of range of every tensor.
    let shown = i32::try_from(*index).unwrap_or(if *index < 0 { i32::MIN } else { i32::MAX });
    row.ok_or(EvalError::RowOutOfRange { index: shown })
}

/// Zeros of this shape, with the elements of a value from `start` on.
fn placed<T: Element + Default + Clone>(value: &Value, start: usize, shape: Shape) -> Value {
    let elements = T::slice(value);
    let mut all = vec![T::default(); shape.size()];
    all[start..start + elements.len()].clone_from_slice(elements);
    T::value(shape, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    #[test]
    fn rows_at_an_index() {
        check(&Op::Row, &["[[1,2],[3,4]]", "1"], "int [2] [3,4]");
        check(&Op::Row, &["[true,false]", "0"], "bool [] true");
        check(&Op::Row, &["[1.5,2.5]", "2"], "index 2 is out of range");
        check(&Op::Row, &["[1.5,2.5]", "-1"], "index -1 is out of range");
        check(&Op::Row, &["1.5", "0"], "index needs an axis, not shape []");
        check(&Op::Row, &["[1.5,2.5]", "[0]"], "index needs a scalar index, not shape [1]");
    }

    #[test]
    fn a_row_among_zeros() {
        check(&Op::Place(3), &["1", "[1.5,2.5]"], "num [3,2] [[0,0],[1.5,2.5],[0,0]]");
        check(&Op::Place(2), &["0", "2.5"], "num [2] [2.5,0]");
        check(&Op::Place(2), &["2", "1.0"], "index 2 is out of range");
    }
}
