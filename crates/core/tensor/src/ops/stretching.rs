//! Repetition, and summation as its transpose: `spread`, `broadcast`, `reduce`, `sum_to`.
//!
//! All are linear, so their derivatives read no operand; even `sum_to(g,x)` uses only the shape of x.

use crate::algebra::{Algebra, Formula, Site};
use crate::element::{Number, with_float, with_number};
use crate::kernel::stretch;
use crate::op::Op;
use crate::operation::{EvalError, Operation};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::{ALPHA, NUM, Signature, Slot};
use crate::value::Value;
use crate::walk::Walk;

/// `spread(k,n,x)`: a new axis k of size n, along which x is repeated.
pub(crate) struct Spread(pub usize, pub usize);

impl Operation for Spread {
    fn signature(&self) -> Signature {
        Signature::any(&[NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        if self.0 > operands[0].len() {
            return Err(ShapeError::NewAxis { axis: self.0, shape: operands[0].clone() });
        }
        let shape = operands[0].with_axis(self.0, self.1);
        shape.n_elements()?;
        Ok(shape)
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        Ok(with_float!(operands[0], F => spread::<F>(operands[0], self.0, self.1)))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // sum(g,k)
    fn vjp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Sum(Some(self.0)), g)
    }

    // spread(k,n,t)
    fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Spread(self.0, self.1), t)
    }
}

fn spread<T: Number>(x: &Value, axis: usize, n: usize) -> Value {
    let shape = x.shape().with_axis(axis, n);
    let inner: usize = x.shape()[axis..].iter().product();
    let mut elements = Vec::with_capacity(shape.size());
    if inner > 0 {
        for run in T::slice(x).chunks_exact(inner) {
            for _ in 0..n {
                elements.extend_from_slice(run);
            }
        }
    }
    T::value(shape, elements)
}

/// `broadcast(s,x)` broadcasts x to shape s.
pub(crate) struct Broadcast<'a>(pub &'a Shape);

impl Operation for Broadcast<'_> {
    fn signature(&self) -> Signature {
        Signature::any(&[NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Fixed(self.0.clone())
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        self.0.n_elements()?;
        if !operands[0].stretches_to(self.0) {
            return Err(ShapeError::Stretch { from: operands[0].clone(), to: self.0.clone() });
        }
        Ok(self.0.clone())
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        if operands[0].shape() == self.0 {
            return Ok(operands[0].clone());
        }
        Ok(with_float!(operands[0], F => stretch::<F>(operands[0], self.0)))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // g, summed down to the shape of x
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.reduced(g, &s.shapes[0])
    }

    // t, broadcast like x
    fn jvp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.stretched(t, s.result_shape)
    }
}

/// `reduce(s,x)` sums x down to shape s; it is the transpose of `broadcast` from s.
pub(crate) struct Reduce<'a>(pub &'a Shape);

impl Operation for Reduce<'_> {
    fn signature(&self) -> Signature {
        Signature::any(&[NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Fixed(self.0.clone())
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        reduced_shape(operands[0], self.0)
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        with_float!(operands[0], F => reduce::<F>(operands[0], self.0))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // g, broadcast to the shape of x
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.stretched(g, &s.shapes[0])
    }

    // t, summed down like x
    fn jvp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.reduced(t, s.result_shape)
    }
}

/// `sum_to(x₁,x₂)` sums x₁ down to the shape of x₂.
pub(crate) struct SumTo;

impl Operation for SumTo {
    fn signature(&self) -> Signature {
        Signature::numeric(&[ALPHA, Slot::Free], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Like(1)
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        reduced_shape(operands[0], operands[1])
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        with_number!(operands[0], T => reduce::<T>(operands[0], operands[1].shape()))
    }

    fn is_differentiable_in(&self, operand: usize) -> bool {
        operand == 0
    }

    // g, broadcast to the shape of x₁
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        a.stretched(g, &s.shapes[0])
    }

    // t, summed down like x₁
    fn jvp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.reduced(t, s.result_shape)
    }
}

fn reduced_shape(from: &Shape, to: &Shape) -> Result<Shape, ShapeError> {
    if !to.stretches_to(from) {
        return Err(ShapeError::Reduce { from: from.clone(), to: to.clone() });
    }
    Ok(to.clone())
}

/// Sums the elements that broadcasting from `shape` would make equal, in row-major order.
fn reduce<T: Number>(x: &Value, shape: &Shape) -> Result<Value, EvalError> {
    if x.shape() == shape {
        return Ok(x.clone());
    }
    let xs = T::slice(x);
    let mut sums = T::accumulators(shape.size(), xs.len());
    let walk = Walk::new(x.shape(), [shape]);
    let [advances] = walk.advances();
    for (row, [start]) in xs.chunks_exact(walk.row_len().max(1)).zip(walk.rows()) {
        if advances {
            for (sum, x) in sums[start..].iter_mut().zip(row) {
                *sum = sum.plus(*x)?;
            }
        } else {
            let sum = &mut sums[start];
            *sum = row.iter().try_fold(*sum, |sum, x| sum.plus(*x))?;
        }
    }
    Ok(T::value(shape.clone(), sums))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, eval, value, zeros};

    #[test]
    fn spread_makes_an_axis() {
        check(&Op::Spread(0, 2), &["[1.0,2.0]"], "num [2,2] [[1,2],[1,2]]");
        check(&Op::Spread(1, 2), &["[1.0,2.0]"], "num [2,2] [[1,1],[2,2]]");
        check(&Op::Spread(0, 3), &["1.5"], "num [3] [1.5,1.5,1.5]");
        check(&Op::Spread(1, 0), &["[1.0,2.0]"], "num [2,0] [[],[]]");
        check(
            &Op::Spread(2, 2),
            &["[1.0,2.0]"],
            "axis 2 is out of range: a new axis of shape [2] can be 0 to 1",
        );
    }

    #[test]
    fn broadcast_stretches() {
        let table = Op::Broadcast(Shape::new(&[2, 3]));
        check(&table, &["1.0"], "num [2,3] [[1,1,1],[1,1,1]]");
        check(&table, &["[1.0,2.0,3.0]"], "num [2,3] [[1,2,3],[1,2,3]]");
        check(&table, &["[[1.0],[2.0]]"], "num [2,3] [[1,1,1],[2,2,2]]");
        check(&table, &["[[1.0,2.0,3.0],[4.0,5.0,6.0]]"], "num [2,3] [[1,2,3],[4,5,6]]");
        check(&table, &["[1.0,2.0]"], "shape [2] does not broadcast to [2,3]");
        check(&Op::Broadcast(Shape::new(&[1])), &["[1.0,2.0]"], "shape [2] does not broadcast to [1]");
    }

    #[test]
    fn reduce_sums_what_broadcast_repeats() {
        let table = "[[1.0,2.0,3.0],[10.0,20.0,30.0]]";
        check(&Op::Reduce(Shape::scalar()), &[table], "num [] 66");
        check(&Op::Reduce(Shape::new(&[3])), &[table], "num [3] [11,22,33]");
        check(&Op::Reduce(Shape::new(&[2, 1])), &[table], "num [2,1] [[6],[60]]");
        check(&Op::Reduce(Shape::new(&[1, 1])), &[table], "num [1,1] [[66]]");
        check(&Op::Reduce(Shape::new(&[2])), &[table], "shape [2,3] cannot be summed down to [2]");
        check(&Op::Reduce(Shape::new(&[2])), &["1.0"], "shape [] cannot be summed down to [2]");
    }

    #[test]
    fn sum_to_takes_only_the_shape_of_its_second_operand() {
        check(&Op::SumTo, &["[[1,2],[3,4]]", "[true,false]"], "int [2] [4,6]");
        check(&Op::SumTo, &["[1.5,2.0]", "0"], "num [] 3.5");
        check(&Op::SumTo, &["[9223372036854775807,1]", "0"], "integer overflow");
        check(&Op::SumTo, &["[1,2]", "[1,2,3]"], "shape [2] cannot be summed down to [3]");
    }

    #[test]
    fn sums_start_from_their_first_term() {
        let negative_zero = value("[-0.0]");
        let sum = eval(&Op::Reduce(Shape::scalar()), &[&negative_zero]);
        assert_eq!(sum, Value::Num(-0.0));
        let nothing = zeros(&[0]);
        let sum = eval(&Op::Reduce(Shape::scalar()), &[&nothing]);
        assert_eq!(sum, Value::Num(0.0));
    }
}
