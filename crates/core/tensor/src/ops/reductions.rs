//! Operations along an axis: `sum mean max max_mask argmax softmax`.
//!
//! Without an axis they reduce all elements. Sums run from left to right in row-major order, starting from
//! the first term. Among equal maxima the first is taken; NaN counts as larger than any number, so that it
//! propagates. Sum, mean and maximum of a scalar are the scalar itself.

use pulp::{Simd, WithSimd};

use crate::algebra::{Algebra, Formula, Site};
use crate::element::{Element, Float, Number, with_float, with_number};
use crate::op::Op;
use crate::operation::{EvalError, Operation, no_derivative};
use crate::processor::widest;
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::{ALPHA, INT, NUM, Signature};
use crate::value::Value;

/// The slices of a tensor along an axis: element i of slice (o, j) is at `(o * n + i) * inner + j`.
#[derive(Clone, Copy)]
struct Slices {
    outer: usize,
    /// The length of each slice.
    n: usize,
    inner: usize,
}

impl Slices {
    fn new(shape: &Shape, axis: Option<usize>) -> Slices {
        match axis {
            None => Slices { outer: 1, n: shape.size(), inner: 1 },
            Some(axis) => Slices {
                outer: shape[..axis].iter().product(),
                n: shape[axis],
                inner: shape[axis + 1..].iter().product(),
            },
        }
    }

    /// The indices of the elements of each slice, with slices in row-major order.
    fn places(self) -> impl Iterator<Item = impl Iterator<Item = usize>> {
        let Slices { outer, n, inner } = self;
        (0..outer).flat_map(move |o| (0..inner).map(move |j| (0..n).map(move |i| (o * n + i) * inner + j)))
    }
}

/// Removes this axis, or all axes.
fn reduced_shape(shape: &Shape, axis: Option<usize>) -> Result<Shape, ShapeError> {
    match axis {
        None => Ok(Shape::scalar()),
        Some(axis) if axis < shape.len() => Ok(shape.without_axis(axis)),
        Some(axis) => Err(ShapeError::Axis { axis, shape: shape.clone() }),
    }
}

/// Without an axis the result is a scalar for every operand.
fn reduction_rule(axis: Option<usize>) -> ShapeRule {
    if axis.is_none() { ShapeRule::Fixed(Shape::scalar()) } else { ShapeRule::Function }
}

/// Repeats `g` along the axis that a reduction removed.
fn spread_back<A: Algebra>(axis: Option<usize>, shape: &Shape, g: &A::Value, a: &mut A) -> A::Value {
    match axis {
        None => a.stretched(g, shape),
        Some(axis) => a.one(Op::Spread(axis, shape[axis]), g),
    }
}

/// `sum(x)`, `sum(x,axis)`.
pub(crate) struct Sum(pub Option<usize>);

impl Operation for Sum {
    fn signature(&self) -> Signature {
        Signature::numeric(&[ALPHA], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        reduction_rule(self.0)
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        reduced_shape(operands[0], self.0)
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        if operands[0].shape().is_scalar() {
            return Ok(operands[0].clone());
        }
        with_number!(operands[0], T => Ok(T::value(result_shape(operands, self.0), sums::<T>(operands[0], self.0)?)))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // g, repeated
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        spread_back(self.0, &s.shapes[0], g, a)
    }

    // sum(t)
    fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Sum(self.0), t)
    }
}

/// `mean(x)`, `mean(x,axis)`; the mean of no elements is NaN.
pub(crate) struct Mean(pub Option<usize>);

impl Operation for Mean {
    fn signature(&self) -> Signature {
        Signature::any(&[NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        reduction_rule(self.0)
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        reduced_shape(operands[0], self.0)
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        if operands[0].shape().is_scalar() {
            return Ok(operands[0].clone());
        }
        let n = Slices::new(operands[0].shape(), self.0).n;
        with_float!(operands[0], F => {
            let sums = sums::<F>(operands[0], self.0)?;
            let means = sums.iter().map(|sum| sum / F::from_size(n)).collect();
            Ok(F::value(result_shape(operands, self.0), means))
        })
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // g / n, repeated
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        let n = a.constant(f64::from_size(Slices::new(&s.shapes[0], self.0).n));
        let share = a.div(g, &n);
        spread_back(self.0, &s.shapes[0], &share, a)
    }

    // mean(t)
    fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        a.one(Op::Mean(self.0), t)
    }
}

fn result_shape(operands: &[&Value], axis: Option<usize>) -> Shape {
    reduced_shape(operands[0].shape(), axis).expect("operands passed the shape rules")
}

fn sums<T: Number>(x: &Value, axis: Option<usize>) -> Result<Vec<T>, EvalError> {
    let Slices { outer, n, inner } = Slices::new(x.shape(), axis);
    let mut sums = T::accumulators(outer * inner, n);
    let slabs = T::slice(x).chunks_exact((n * inner).max(1));
    for (sums, slab) in sums.chunks_exact_mut(inner.max(1)).zip(slabs) {
        if inner == 1 {
            sums[0] = slab.iter().try_fold(sums[0], |sum, x| sum.plus(*x))?;
            continue;
        }
        // Along `inner` the additions are independent of each other and vectorise.
        for row in slab.chunks_exact(inner) {
            for (sum, x) in sums.iter_mut().zip(row) {
                *sum = sum.plus(*x)?;
            }
        }
    }
    Ok(sums)
}

/// `max(x)`, `max(x,axis)`.
pub(crate) struct Max(pub Option<usize>);

impl Operation for Max {
    fn signature(&self) -> Signature {
        Signature::numeric(&[ALPHA], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        reduction_rule(self.0)
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        let shape = reduced_shape(operands[0], self.0)?;
        if Slices::new(operands[0], self.0).n == 0 {
            return Err(ShapeError::Empty { op: "max", shape: operands[0].clone() });
        }
        Ok(shape)
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        if operands[0].shape().is_scalar() {
            return Ok(operands[0].clone());
        }
        let shape = result_shape(operands, self.0);
        Ok(with_number!(operands[0], T => {
            let xs = T::slice(operands[0]);
            T::value(shape, first_maxima::<T>(operands[0], self.0).map(|place| xs[place]).collect())
        }))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // g at the first maximum of each slice, 0 elsewhere
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        let is_maximum = is_first_maximum(self.0, s, a);
        let repeated = spread_back(self.0, &s.shapes[0], g, a);
        a.keep_where(&is_maximum, &repeated)
    }

    // t at the first maximum of each slice
    fn jvp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        let is_maximum = is_first_maximum(self.0, s, a);
        let kept = a.keep_where(&is_maximum, t);
        a.one(Op::Sum(self.0), &kept)
    }
}

fn is_first_maximum<A: Algebra>(axis: Option<usize>, s: &Site<'_, A::Value>, a: &mut A) -> A::Value {
    let mask = a.one(Op::MaxMask(axis), &s.operands[0]);
    let zero = a.constant(0.0);
    a.two(Op::Gt, &mask, &zero)
}

/// The index of the first maximum of each slice; no slice is empty.
fn first_maxima<T: Number>(x: &Value, axis: Option<usize>) -> impl Iterator<Item = usize> {
    let xs = T::slice(x);
    Slices::new(x.shape(), axis).places().map(move |places| {
        places
            .reduce(|best, place| if xs[place].exceeds(xs[best]) { place } else { best })
            .expect("operands passed the shape rules: slices are not empty")
    })
}

/// `max_mask(x)`, `max_mask(x,axis)`: 1 at the first maximum of each slice, 0 elsewhere.
pub(crate) struct MaxMask(pub Option<usize>);

impl Operation for MaxMask {
    fn signature(&self) -> Signature {
        Signature::any(&[NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Equal
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        reduced_shape(operands[0], self.0)?;
        Ok(operands[0].clone())
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let x = operands[0];
        Ok(with_float!(x, F => {
            let mut mask = vec![F::ZERO; x.n_elements()];
            // An empty operand has an empty mask.
            if !mask.is_empty() {
                first_maxima::<F>(x, self.0).for_each(|place| mask[place] = F::ONE);
            }
            F::value(x.shape().clone(), mask)
        }))
    }

    no_derivative!();
}

/// `argmax(x)`: the index of the first maximum among all elements in row-major order.
pub(crate) struct Argmax;

impl Operation for Argmax {
    fn signature(&self) -> Signature {
        Signature::numeric(&[ALPHA], INT)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Fixed(Shape::scalar())
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        if operands[0].n_elements()? == 0 {
            return Err(ShapeError::Empty { op: "argmax", shape: operands[0].clone() });
        }
        Ok(Shape::scalar())
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let place = with_number!(operands[0], T => first_maxima::<T>(operands[0], None).next());
        let place = place.expect("all elements are one slice");
        Ok(Value::Int(i64::try_from(place).expect("a tensor has less than 2^63 elements")))
    }

    no_derivative!();
}

/// `softmax(x)`: exponentials along the last axis, scaled to sum 1. The maximum is subtracted first, so that
/// no exponential overflows.
pub(crate) struct Softmax;

impl Operation for Softmax {
    fn signature(&self) -> Signature {
        Signature::any(&[NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Equal
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        if operands[0].is_scalar() {
            return Err(ShapeError::Rank { op: "softmax", needs: "an axis", found: Shape::scalar() });
        }
        Ok(operands[0].clone())
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        Ok(with_float!(operands[0], F => softmax::<F>(operands[0])))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // y (g - Σ y g) in each row
    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        let last = s.result_shape.len() - 1;
        let products = a.mul(s.result, g);
        let sums = a.one(Op::Sum(Some(last)), &products);
        let sums = a.one(Op::Spread(last, s.result_shape[last]), &sums);
        let difference = a.sub(g, &sums);
        a.mul(s.result, &difference)
    }

    // as above: the Jacobian is symmetric
    fn jvp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        self.vjp(operand, s, t, a)
    }
}

fn softmax<F: Float>(x: &Value) -> Value {
    let mut elements = F::slice(x).to_vec();
    let n = x.shape()[x.shape().len() - 1];
    widest().dispatch(SoftmaxOfRows { elements: &mut elements, n });
    F::value(x.shape().clone(), elements)
}

/// The loops of [`softmax`], over rows of `n` elements.
struct SoftmaxOfRows<'a, F> {
    elements: &'a mut [F],
    n: usize,
}

impl<F: Float> WithSimd for SoftmaxOfRows<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.elements.chunks_exact_mut(self.n.max(1)) {
            let max = row.iter().copied().reduce(|max, x| if x.exceeds(max) { x } else { max });
            let max = max.expect("a chunk is not empty");
            for x in &mut *row {
                *x = (*x - max).exp();
            }
            let sum = row.iter().fold(F::NEUTRAL, |sum, x| sum + *x);
            for x in row {
                *x = *x / sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, eval, refusal, zeros};

    const TABLE: &str = "[[1.0,5.0,3.0],[4.0,2.0,4.0]]";

    #[test]
    fn sums() {
        check(&Op::Sum(None), &[TABLE], "num [] 19");
        check(&Op::Sum(Some(0)), &[TABLE], "num [3] [5,7,7]");
        check(&Op::Sum(Some(1)), &[TABLE], "num [2] [9,10]");
        check(&Op::Sum(Some(0)), &["[1,2,3]"], "int [] 6");
        check(&Op::Sum(None), &["2.5"], "num [] 2.5");
        check(&Op::Sum(Some(1)), &["[[[1,2],[3,4]],[[5,6],[7,8]]]"], "int [2,2] [[4,6],[12,14]]");
        check(&Op::Sum(Some(2)), &[TABLE], "axis 2 is out of range for shape [2,3], whose axes are 0 and 1");
        check(&Op::Sum(Some(0)), &["2.5"], "axis 0 is out of range for shape [], which has no axes");
        check(&Op::Sum(None), &["[9223372036854775807,1]"], "integer overflow");
    }

    #[test]
    fn sums_go_from_left_to_right() {
        // Any other order keeps one of the small terms.
        check(&Op::Sum(None), &["[1.0,1e100,1.0,-1e100]"], "num [] 0");
        check(&Op::Sum(Some(0)), &["[[1e100,1.0],[-1e100,1e100],[1.0,-1e100]]"], "num [2] [1,0]");
    }

    #[test]
    fn sums_of_nothing_are_zero() {
        let empty = zeros(&[2, 0]);
        assert_eq!(eval(&Op::Sum(Some(1)), &[&empty]).to_string(), "[0,0]");
        assert_eq!(eval(&Op::Sum(None), &[&empty]), Value::Num(0.0));
        assert_eq!(eval(&Op::Sum(Some(0)), &[&empty]).shape(), &Shape::new(&[0]));
        assert_eq!(eval(&Op::Mean(None), &[&empty]), Value::Num(f64::NAN));
        assert_eq!(eval(&Op::Softmax, &[&empty]), empty);
        assert_eq!(eval(&Op::MaxMask(Some(1)), &[&empty]), empty);
        let sentence = "max of shape [2,0] has nothing to choose from";
        assert_eq!(refusal(&Op::Max(Some(1)), &[empty.shape()]), sentence);
        assert_eq!(Op::Max(Some(0)).shape(&[empty.shape()]), Ok(Shape::new(&[0])));
        assert_eq!(eval(&Op::Max(Some(0)), &[&empty]).shape(), &Shape::new(&[0]));
        let sentence = "argmax of shape [2,0] has nothing to choose from";
        assert_eq!(refusal(&Op::Argmax, &[empty.shape()]), sentence);
    }

    #[test]
    fn means() {
        check(&Op::Mean(None), &[TABLE], "num [] 3.1666666666666665");
        check(&Op::Mean(Some(0)), &[TABLE], "num [3] [2.5,3.5,3.5]");
        check(&Op::Mean(None), &["4.0"], "num [] 4");
    }

    #[test]
    fn maxima() {
        check(&Op::Max(None), &[TABLE], "num [] 5");
        check(&Op::Max(Some(0)), &[TABLE], "num [3] [4,5,4]");
        check(&Op::Max(Some(1)), &[TABLE], "num [2] [5,4]");
        check(&Op::Max(None), &["[3,-7]"], "int [] 3");
        check(&Op::Max(None), &["[1.0,nan,2.0]"], "num [] nan");
        check(&Op::Max(Some(1)), &["[1.0]"], "axis 1 is out of range for shape [1], whose only axis is 0");
    }

    #[test]
    fn the_first_of_equal_maxima_is_taken() {
        check(&Op::MaxMask(None), &[TABLE], "num [2,3] [[0,1,0],[0,0,0]]");
        check(&Op::MaxMask(Some(1)), &[TABLE], "num [2,3] [[0,1,0],[1,0,0]]");
        check(&Op::MaxMask(Some(0)), &[TABLE], "num [2,3] [[0,1,0],[1,0,1]]");
        check(&Op::MaxMask(None), &["2.0"], "num [] 1");
        check(
            &Op::MaxMask(Some(2)),
            &[TABLE],
            "axis 2 is out of range for shape [2,3], whose axes are 0 and 1",
        );
        check(&Op::Argmax, &[TABLE], "int [] 1");
        check(&Op::Argmax, &["[3,5,5]"], "int [] 1");
        check(&Op::Argmax, &["[1.0,nan,nan,2.0]"], "int [] 1");
        check(&Op::Argmax, &["7"], "int [] 0");
    }

    #[test]
    fn softmax_works_on_rows() {
        check(&Op::Softmax, &["[[0.0,0.0],[1000.0,-1000.0]]"], "num [2,2] [[0.5,0.5],[1,0]]");
        // The maximum is subtracted before anything overflows; a column has rows of one element.
        check(&Op::Softmax, &["[1e308,1e308]"], "num [2] [0.5,0.5]");
        check(&Op::Softmax, &["[[3.0],[4.0]]"], "num [2,1] [[1],[1]]");
        check(&Op::Softmax, &["1.0"], "softmax needs an axis, not shape []");
    }
}
