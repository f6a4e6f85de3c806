//! Windows along an axis and their transpose, overlapping addition: `unfold`, `fold`.
//!
//! Pooling, strides and frames need them: `max(unfold(0,2,2,x),1)` is a maximum of pairs. Both are linear, so
//! their derivatives read no operand, and each is the derivative of the other.

use crate::algebra::{Algebra, Formula, Site};
use crate::element::{Element, Number, with_float};
use crate::op::Op;
use crate::operation::{EvalError, Operation};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::{NUM, Signature};
use crate::value::Value;

/// `unfold(k,size,stride,x)` cuts axis k into windows of this size, whose starts are `stride` apart; a rest
/// that does not fill a window is dropped. The axis becomes two: the window, and the position within it.
pub(crate) struct Unfold {
    pub axis: usize,
    pub size: usize,
    pub stride: usize,
}

impl Operation for Unfold {
    fn signature(&self) -> Signature {
        Signature::any(&[NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        let shape = operands[0];
        let n = *shape.get(self.axis).ok_or(ShapeError::Axis { axis: self.axis, shape: shape.clone() })?;
        let wrong = || ShapeError::Windows { size: self.size, stride: self.stride, n, shape: shape.clone() };
        let n_windows = n_windows(n, self.size, self.stride).ok_or_else(wrong)?;
        let windows = shape.without_axis(self.axis).with_axis(self.axis, self.size);
        let windows = windows.with_axis(self.axis, n_windows);
        windows.n_elements()?;
        Ok(windows)
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let shape = self.shape(&[operands[0].shape()]).expect("the operand has passed the shape rule");
        Ok(with_float!(operands[0], F => self.windows::<F>(operands[0], shape)))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // fold(k,stride,n,g)
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Fold(self.axis, self.stride, s.shapes[0][self.axis]), g)
    }

    // unfold(k,size,stride,t)
    fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Unfold(self.axis, self.size, self.stride), t)
    }
}

impl Unfold {
    fn windows<T: Element>(&self, x: &Value, shape: Shape) -> Value {
        let (n, inner) = (x.shape()[self.axis], row_size(x.shape(), self.axis + 1));
        let mut elements = Vec::with_capacity(shape.size());
        if n * inner > 0 {
            for rows in T::slice(x).chunks_exact(n * inner) {
                for window in 0..shape[self.axis] {
                    let start = window * self.stride * inner;
                    elements.extend_from_slice(&rows[start..start + self.size * inner]);
                }
            }
        }
        T::value(shape, elements)
    }
}

/// `fold(k,stride,n,x)` adds up windows, as `unfold` makes them from an axis of size n, where they overlap;
/// the result is 0 outside of all windows.
pub(crate) struct Fold {
    pub axis: usize,
    pub stride: usize,
    pub n: usize,
}

impl Operation for Fold {
    fn signature(&self) -> Signature {
        Signature::any(&[NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        let shape = operands[0];
        let size = *shape
            .get(self.axis + 1)
            .ok_or(ShapeError::Axis { axis: self.axis + 1, shape: shape.clone() })?;
        if n_windows(self.n, size, self.stride) != Some(shape[self.axis]) {
            return Err(ShapeError::Windows { size, stride: self.stride, n: self.n, shape: shape.clone() });
        }
        let folded = shape.without_axis(self.axis).without_axis(self.axis).with_axis(self.axis, self.n);
        folded.n_elements()?;
        Ok(folded)
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let shape = self.shape(&[operands[0].shape()]).expect("the operand has passed the shape rule");
        with_float!(operands[0], F => self.sums::<F>(operands[0], shape))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // unfold(k,size,stride,g)
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Unfold(self.axis, s.shapes[0][self.axis + 1], self.stride), g)
    }

    // fold(k,stride,n,t)
    fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Fold(self.axis, self.stride, self.n), t)
    }
}

impl Fold {
    fn sums<T: Number>(&self, x: &Value, shape: Shape) -> Result<Value, EvalError> {
        let (n_windows, size) = (x.shape()[self.axis], x.shape()[self.axis + 1]);
        let inner = row_size(&shape, self.axis + 1);
        let (window_len, row_len) = (size * inner, self.n * inner);
        let mut sums = vec![T::ZERO; shape.size()];
        if row_len > 0 {
            let rows = sums.chunks_exact_mut(row_len);
            for (row, windows) in rows.zip(T::slice(x).chunks_exact(n_windows * window_len)) {
                for (number, window) in windows.chunks_exact(window_len).enumerate() {
                    let start = number * self.stride * inner;
                    // Earlier windows have written this many elements; the others are written for the first
                    // time.
                    let reached =
                        if number == 0 { 0 } else { window_len.saturating_sub(self.stride * inner) };
                    for (sum, x) in row[start..].iter_mut().zip(&window[..reached]) {
                        *sum = sum.plus(*x)?;
                    }
                    row[start + reached..start + window_len].copy_from_slice(&window[reached..]);
                }
            }
        }
        Ok(T::value(shape, sums))
    }
}

/// The number of windows of a size in `n` elements, with starts a stride apart; `None` if the numbers are
/// invalid.
fn n_windows(n: usize, size: usize, stride: usize) -> Option<usize> {
    if size == 0 || stride == 0 {
        return None;
    }
    Some(n.checked_sub(size)? / stride + 1)
}

/// The number of elements per index before `axis`.
fn row_size(shape: &Shape, axis: usize) -> usize {
    shape[axis..].iter().product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, eval, value};

    #[test]
    fn unfold_makes_windows() {
        let five = "[1.0,2.0,3.0,4.0,5.0]";
        check(&Op::Unfold(0, 3, 1), &[five], "num [3,3] [[1,2,3],[2,3,4],[3,4,5]]");
        check(&Op::Unfold(0, 2, 2), &[five], "num [2,2] [[1,2],[3,4]]");
        check(&Op::Unfold(0, 1, 3), &[five], "num [2,1] [[1],[4]]");
        check(&Op::Unfold(1, 2, 1), &["[[1.0,2.0,3.0]]"], "num [1,2,2] [[[1,2],[2,3]]]");
        check(&Op::Unfold(0, 2, 1), &["[[1.0],[2.0]]"], "num [1,2,1] [[[1],[2]]]");
    }

    #[test]
    fn unfold_needs_room() {
        check(&Op::Unfold(1, 1, 1), &["[1.0]"], "axis 1 is out of range for shape [1], whose only axis is 0");
        let sentence = "windows of 3, 1 apart, are out of range of 2 for shape [2]";
        check(&Op::Unfold(0, 3, 1), &["[1.0,2.0]"], sentence);
        let sentence = "windows of 1, 0 apart, are out of range of 2 for shape [2]";
        check(&Op::Unfold(0, 1, 0), &["[1.0,2.0]"], sentence);
    }

    #[test]
    fn fold_adds_where_windows_overlap() {
        let windows = "[[1.0,2.0],[10.0,20.0]]";
        check(&Op::Fold(0, 1, 3), &[windows], "num [3] [1,12,20]");
        check(&Op::Fold(0, 2, 5), &[windows], "num [5] [1,2,10,20,0]");
        check(&Op::Fold(0, 3, 5), &[windows], "num [5] [1,2,0,10,20]");
        check(&Op::Fold(1, 1, 2), &["[[[1.0],[2.0]]]"], "num [1,2] [[1,2]]");
        let sentence = "windows of 2, 1 apart, are out of range of 4 for shape [2,2]";
        check(&Op::Fold(0, 1, 4), &[windows], sentence);
        check(&Op::Fold(0, 1, 1), &["[1.0]"], "axis 1 is out of range for shape [1], whose only axis is 0");
    }

    #[test]
    fn sums_start_from_their_first_term() {
        let folded = eval(&Op::Fold(0, 1, 1), &[&value("[[-0.0]]")]);
        assert_eq!(eval(&Op::Div, &[&Value::Num(1.0), &folded]).to_string(), "[-inf]");
    }
}
