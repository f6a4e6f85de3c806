//! Operations that move elements without changing them: `concat`, `[a,b,..]`, `x[i]`, `slice`, `pad`,
//! `reshape`, `transpose`.
//!
//! All are linear, so their derivatives read no operand. A *row* is the part of a tensor at one index of axis
//! 0. Rows are contiguous in memory, so most of these operations copy runs of elements.

use crate::algebra::{Algebra, Formula, Site};
use crate::element::{Element, with_element, with_float};
use crate::op::Op;
use crate::operation::{EvalError, Operation};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::{ALPHA, NUM, Signature};
use crate::value::Value;

/// `concat(x₁,..,xₙ)`: all rows of x₁, then those of x₂, and so on.
pub(crate) struct Concat;

impl Operation for Concat {
    fn signature(&self) -> Signature {
        Signature::any(&[ALPHA], ALPHA).repeated()
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        let first = operands[0];
        for operand in operands {
            has_rows("concat", operand)?;
            if operand[1..] != first[1..] {
                return Err(ShapeError::Concat { left: first.clone(), right: (*operand).clone() });
            }
        }
        let n_rows = operands.iter().try_fold(0_usize, |n, operand| n.checked_add(operand[0]));
        accepted(first.with_rows(n_rows.unwrap_or(usize::MAX)))
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let n_rows = operands.iter().map(|operand| operand.shape()[0]).sum();
        let shape = operands[0].shape().with_rows(n_rows);
        Ok(with_element!(operands[0], T => chain::<T>(operands, shape)))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // the rows of g that came from the operand
    fn vjp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        let lo = rows_before(operand, s.shapes);
        a.one(Op::Slice(lo, lo + s.shapes[operand][0]), g)
    }

    // t among rows of zeros
    fn jvp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Pad(rows_before(operand, s.shapes), s.result_shape[0]), t)
    }
}

fn rows_before(operand: usize, shapes: &[Shape]) -> usize {
    shapes[..operand].iter().map(|shape| shape[0]).sum()
}

/// `[x₁,..,xₙ]`: each operand is one row.
pub(crate) struct Stack;

impl Operation for Stack {
    fn signature(&self) -> Signature {
        Signature::any(&[ALPHA], ALPHA).repeated()
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Stack
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        accepted(ShapeRule::Stack.shape(operands)?)
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let shape = operands[0].shape().with_axis(0, operands.len());
        Ok(with_element!(operands[0], T => chain::<T>(operands, shape)))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // g[i]
    fn vjp<A: Algebra>(&self, operand: usize, _: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Index(operand), g)
    }

    // t among rows of zeros
    fn jvp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        row_among_zeros(operand, s.result_shape, t, a)
    }
}

/// Concatenates the elements of all operands.
fn chain<T: Element>(operands: &[&Value], shape: Shape) -> Value {
    let mut elements = Vec::with_capacity(shape.size());
    for operand in operands {
        elements.extend_from_slice(T::slice(operand));
    }
    T::value(shape, elements)
}

/// A tensor of this shape whose row `index` is `row`; the other rows are zero.
fn row_among_zeros<A: Algebra>(index: usize, shape: &Shape, row: &A::Value, a: &mut A) -> A::Value {
    let one_row = a.reshaped(row, &shape.with_rows(1));
    a.one(Op::Pad(index, shape[0]), &one_row)
}

/// `x[i]`: row i.
pub(crate) struct Index(pub usize);

impl Operation for Index {
    fn signature(&self) -> Signature {
        Signature::any(&[ALPHA], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        let shape = operands[0];
        has_rows("index", shape)?;
        if self.0 >= shape[0] {
            return Err(ShapeError::Index { index: self.0, shape: shape.clone() });
        }
        Ok(shape.without_axis(0))
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let shape = operands[0].shape().without_axis(0);
        Ok(with_element!(operands[0], T => run_of::<T>(operands[0], self.0 * shape.size(), shape)))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // g among rows of zeros
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        row_among_zeros(self.0, &s.shapes[0], g, a)
    }

    // t[i]
    fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Index(self.0), t)
    }
}

/// `slice(lo,hi,x)`: the rows from lo to hi, which is excluded.
pub(crate) struct Slice(pub usize, pub usize);

impl Operation for Slice {
    fn signature(&self) -> Signature {
        Signature::any(&[ALPHA], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        let shape = operands[0];
        has_rows("slice", shape)?;
        let (lo, hi) = (self.0, if self.1 == Op::LAST_ROW { shape[0] } else { self.1 });
        if lo > hi || hi > shape[0] {
            return Err(ShapeError::Rows { lo, hi, shape: shape.clone() });
        }
        Ok(shape.with_rows(hi - lo))
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let shape = operands[0].shape();
        let start = self.0 * row_size(shape);
        let shape = shape.with_rows(self.1 - self.0);
        Ok(with_element!(operands[0], T => run_of::<T>(operands[0], start, shape)))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // pad(lo,n,g)
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Pad(self.0, s.shapes[0][0]), g)
    }

    // slice(lo,hi,t)
    fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Slice(self.0, self.1), t)
    }
}

/// A run of elements as a value of this shape.
pub(super) fn run_of<T: Element>(x: &Value, start: usize, shape: Shape) -> Value {
    let elements = T::slice(x)[start..start + shape.size()].to_vec();
    T::value(shape, elements)
}

/// `pad(lo,n,x)` places x at row lo of n rows; the other rows are zero.
pub(crate) struct Pad(pub usize, pub usize);

impl Operation for Pad {
    fn signature(&self) -> Signature {
        Signature::any(&[NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        let shape = operands[0];
        has_rows("pad", shape)?;
        if self.0.checked_add(shape[0]).is_none_or(|end| end > self.1) {
            return Err(ShapeError::Pad { lo: self.0, n: self.1, shape: shape.clone() });
        }
        accepted(shape.with_rows(self.1))
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        Ok(with_float!(operands[0], F => padded::<F>(operands[0], self.0, self.1)))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // slice(lo,lo + rows,g)
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Slice(self.0, self.0 + s.shapes[0][0]), g)
    }

    // pad(lo,n,t)
    fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Pad(self.0, self.1), t)
    }
}

fn padded<T: Element>(x: &Value, lo: usize, n: usize) -> Value {
    let (xs, shape) = (T::slice(x), x.shape().with_rows(n));
    let start = lo * row_size(&shape);
    let mut elements = vec![T::ZERO; shape.size()];
    elements[start..start + xs.len()].copy_from_slice(xs);
    T::value(shape, elements)
}

/// `reshape(s,x)`: the same elements in the same order, with another shape.
pub(crate) struct Reshape<'a>(pub &'a Shape);

impl Operation for Reshape<'_> {
    fn signature(&self) -> Signature {
        Signature::any(&[ALPHA], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Fixed(self.0.clone())
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        if operands[0].n_elements()? != self.0.n_elements()? {
            return Err(ShapeError::Reshape { from: operands[0].clone(), to: self.0.clone() });
        }
        Ok(self.0.clone())
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        Ok(with_element!(operands[0], T => run_of::<T>(operands[0], 0, self.0.clone())))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // g in the shape of x
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.reshaped(g, &s.shapes[0])
    }

    // t in the shape of y
    fn jvp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.reshaped(t, s.result_shape)
    }
}

/// `transpose(x)` exchanges rows and columns; vectors and scalars are unchanged.
pub(crate) struct Transpose;

impl Operation for Transpose {
    fn signature(&self) -> Signature {
        Signature::any(&[ALPHA], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        match operands[0] {
            matrix if matrix.len() == 2 => Ok(Shape::new(&[matrix[1], matrix[0]])),
            other if other.len() < 2 => Ok(other.clone()),
            other => {
                Err(ShapeError::Rank { op: "transpose", needs: "at most two axes", found: other.clone() })
            }
        }
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let x = operands[0];
        match **x.shape() {
            [n, m] => Ok(with_element!(x, T => transposed::<T>(x, n, m))),
            _ => Ok(x.clone()),
        }
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // transpose(g)
    fn vjp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Transpose, g)
    }

    // transpose(t)
    fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Transpose, t)
    }
}

fn transposed<T: Element>(x: &Value, n: usize, m: usize) -> Value {
    let xs = T::slice(x);
    let elements = (0..m).flat_map(|j| (0..n).map(move |i| xs[i * m + j])).collect();
    T::value(Shape::new(&[m, n]), elements)
}

pub(super) fn has_rows(op: &'static str, shape: &Shape) -> Result<(), ShapeError> {
    if shape.is_scalar() {
        return Err(ShapeError::Rank { op, needs: "an axis", found: shape.clone() });
    }
    Ok(())
}

pub(super) fn row_size(shape: &Shape) -> usize {
    shape[1..].iter().product()
}

/// Checks that a shape is not too large.
fn accepted(shape: Shape) -> Result<Shape, ShapeError> {
    shape.n_elements()?;
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    #[test]
    fn concat_joins_rows() {
        check(&Op::Concat, &["[1,2]", "[3]", "[4,5]"], "int [5] [1,2,3,4,5]");
        check(&Op::Concat, &["[[1.0,2.0]]", "[[3.0,4.0],[5.0,6.0]]"], "num [3,2] [[1,2],[3,4],[5,6]]");
        check(&Op::Concat, &["[true]"], "bool [1] [true]");
        let sentence = "cannot concatenate [1,2] and [1,3]: only the first sizes may differ";
        check(&Op::Concat, &["[[1,2]]", "[[1,2,3]]"], sentence);
        check(&Op::Concat, &["1", "2"], "concat needs an axis, not shape []");
        check(&Op::Concat, &["[1]", "2"], "concat needs an axis, not shape []");
    }

    #[test]
    fn stack_makes_rows() {
        check(&Op::Stack, &["1", "2"], "int [2] [1,2]");
        check(&Op::Stack, &["true"], "bool [1] [true]");
        check(&Op::Stack, &["[1.0,2.0]", "[3.0,4.0]"], "num [2,2] [[1,2],[3,4]]");
        check(&Op::Stack, &["[1]", "2"], "shapes [1] and [] should be equal");
    }

    #[test]
    fn index_picks_a_row() {
        check(&Op::Index(1), &["[[1,2],[3,4]]"], "int [2] [3,4]");
        check(&Op::Index(0), &["[true,false]"], "bool [] true");
        check(&Op::Index(2), &["[1,2]"], "index 2 is out of range for shape [2]");
        check(&Op::Index(0), &["1"], "index needs an axis, not shape []");
    }

    #[test]
    fn slices_and_padding() {
        check(&Op::Slice(1, 3), &["[1.0,2.0,3.0,4.0]"], "num [2] [2,3]");
        check(&Op::Slice(1, 2), &["[[1.0,2.0],[3.0,4.0]]"], "num [1,2] [[3,4]]");
        check(&Op::Slice(2, 2), &["[1.0,2.0]"], "num [0] []");
        check(&Op::Slice(1, 3), &["[1.0,2.0]"], "rows 1 to 3 are out of range for shape [2]");
        check(&Op::Slice(2, 1), &["[1.0,2.0]"], "rows 2 to 1 are out of range for shape [2]");
        check(&Op::Slice(0, 0), &["1.0"], "slice needs an axis, not shape []");
        check(&Op::Pad(1, 4), &["[1.0,2.0]"], "num [4] [0,1,2,0]");
        check(&Op::Pad(1, 2), &["[[1.0,2.0]]"], "num [2,2] [[0,0],[1,2]]");
        check(&Op::Pad(1, 2), &["[1.0,2.0]"], "shape [2] placed at row 1 is out of range of 2 rows");
        let sentence = "shape [1] placed at row 18446744073709551615 is out of range of 2 rows";
        check(&Op::Pad(usize::MAX, 2), &["[1.0]"], sentence);
        check(&Op::Pad(0, 1 << 29), &["[1.0]"], "shape [536870912] has more than 268435456 elements");
    }

    #[test]
    fn reshape_keeps_the_order() {
        let table = Shape::new(&[2, 2]);
        check(&Op::Reshape(table.clone()), &["[1,2,3,4]"], "int [2,2] [[1,2],[3,4]]");
        check(&Op::Reshape(Shape::scalar()), &["[[1.5]]"], "num [] 1.5");
        check(&Op::Reshape(Shape::new(&[1, 1])), &["true"], "bool [1,1] [[true]]");
        check(&Op::Reshape(table), &["[1,2,3]"], "cannot reshape [3] to [2,2]: 3 elements are not 4");
    }

    #[test]
    fn transpose_swaps_two_axes() {
        check(&Op::Transpose, &["[[1,2,3],[4,5,6]]"], "int [3,2] [[1,4],[2,5],[3,6]]");
        check(&Op::Transpose, &["[1.0,2.0]"], "num [2] [1,2]");
        check(&Op::Transpose, &["true"], "bool [] true");
        check(&Op::Transpose, &["[[[1]]]"], "transpose needs at most two axes, not shape [1,1,1]");
    }
}
