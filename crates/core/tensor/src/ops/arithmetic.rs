//! Operations on two numbers, element by element, with broadcasting: `+ - * / pow maximum minimum div mod`.
//!
//! Each is a function of two elements, for integers, for floats, or for both. [`Binary`] turns it into an
//! operation. The Jacobian of such an operation is diagonal up to broadcasting, and a diagonal matrix is its
//! own transpose; therefore one formula, `slope_times`, serves both directions.

use std::marker::PhantomData;

use crate::algebra::{Algebra, Formula, Site};
use crate::element::{Float, with_float};
use crate::kernel::{Pairwise, try_zip, zip_with};
use crate::op::Op;
use crate::operation::{EvalError, Operation};
use crate::shape_rule::ShapeRule;
use crate::signature::{ALPHA, INT, NUM, Signature};
use crate::value::{Kind, Value};

/// A function of two numbers.
pub(crate) trait Arithmetic {
    const SIGNATURE: Signature;

    fn int(_x: i64, _y: i64) -> Result<i64, EvalError> {
        unreachable!("operands passed the typing rules: this operation is not for integers")
    }

    fn float<F: Float>(_x: F, _y: F) -> F {
        unreachable!("operands passed the typing rules: this operation is for integers")
    }

    /// `d` times the partial derivative in an operand.
    fn slope_times<A: Algebra>(
        operand: usize,
        site: &Site<'_, A::Value>,
        d: &A::Value,
        algebra: &mut A,
    ) -> A::Value;
}

const NUMERIC: Signature = Signature::numeric(&[ALPHA, ALPHA], ALPHA);
const NUMS: Signature = Signature::any(&[NUM, NUM], NUM);
const INTS: Signature = Signature::any(&[INT, INT], INT);

/// `x₁ + x₂`.
pub(crate) struct Add;

impl Arithmetic for Add {
    const SIGNATURE: Signature = NUMERIC;

    #[inline]
    fn int(x: i64, y: i64) -> Result<i64, EvalError> {
        x.checked_add(y).ok_or(EvalError::IntegerOverflow)
    }

    #[inline]
    fn float<F: Float>(x: F, y: F) -> F {
        x + y
    }

    // d · d
    fn slope_times<A: Algebra>(_: usize, _: &Site<'_, A::Value>, d: &A::Value, _: &mut A) -> A::Value {
        d.clone()
    }
}

/// `x₁ - x₂`.
pub(crate) struct Sub;

impl Arithmetic for Sub {
    const SIGNATURE: Signature = NUMERIC;

    #[inline]
    fn int(x: i64, y: i64) -> Result<i64, EvalError> {
        x.checked_sub(y).ok_or(EvalError::IntegerOverflow)
    }

    #[inline]
    fn float<F: Float>(x: F, y: F) -> F {
        x - y
    }

    // d · -d
    fn slope_times<A: Algebra>(operand: usize, _: &Site<'_, A::Value>, d: &A::Value, a: &mut A) -> A::Value {
        if operand == 0 { d.clone() } else { a.neg(d) }
    }
}

/// `x₁ * x₂`.
pub(crate) struct Mul;

impl Arithmetic for Mul {
    const SIGNATURE: Signature = NUMERIC;

    #[inline]
    fn int(x: i64, y: i64) -> Result<i64, EvalError> {
        x.checked_mul(y).ok_or(EvalError::IntegerOverflow)
    }

    #[inline]
    fn float<F: Float>(x: F, y: F) -> F {
        x * y
    }

    // d x₂ · d x₁
    fn slope_times<A: Algebra>(operand: usize, s: &Site<'_, A::Value>, d: &A::Value, a: &mut A) -> A::Value {
        a.mul(d, &s.operands[1 - operand])
    }
}

/// `x₁ / x₂`; division by zero gives an infinity or NaN.
pub(crate) struct Div;

impl Arithmetic for Div {
    const SIGNATURE: Signature = NUMS;

    #[inline]
    fn float<F: Float>(x: F, y: F) -> F {
        x / y
    }

    // d / x₂ · -(d x₁ / (x₂ x₂))
    fn slope_times<A: Algebra>(operand: usize, s: &Site<'_, A::Value>, d: &A::Value, a: &mut A) -> A::Value {
        if operand == 0 {
            return a.div(d, &s.operands[1]);
        }
        let numerator = a.mul(d, &s.operands[0]);
        let square = a.mul(&s.operands[1], &s.operands[1]);
        let quotient = a.div(&numerator, &square);
        a.neg(&quotient)
    }
}

/// `x₁` to the power `x₂`.
///
/// The slopes are the formulas without special cases: at base 0 the logarithm is infinite, and the slope in
/// the exponent is NaN. A constant exponent has no cotangent, so `pow(x,2.0)` has a slope everywhere.
pub(crate) struct Pow;

impl Arithmetic for Pow {
    const SIGNATURE: Signature = NUMS;

    #[inline(always)]
    fn float<F: Float>(x: F, y: F) -> F {
        x.pow(y)
    }

    // d (x₂ x₁^(x₂-1)) · d (ln x₁ y)
    fn slope_times<A: Algebra>(operand: usize, s: &Site<'_, A::Value>, d: &A::Value, a: &mut A) -> A::Value {
        let [base, exponent] = s.operands else { unreachable!("`pow` has two operands") };
        let slope = if operand == 0 {
            let one = a.constant(1.0);
            let lower = a.sub(exponent, &one);
            let power = a.two(Op::Pow, base, &lower);
            a.mul(exponent, &power)
        } else {
            let log = a.one(Op::Log, base);
            a.mul(&log, s.result)
        };
        a.mul(d, &slope)
    }
}

/// The larger operand; NaN if one is NaN, the first if they are equal.
pub(crate) struct Maximum;

impl Arithmetic for Maximum {
    const SIGNATURE: Signature = NUMERIC;

    #[inline]
    fn int(x: i64, y: i64) -> Result<i64, EvalError> {
        Ok(x.max(y))
    }

    #[inline]
    fn float<F: Float>(x: F, y: F) -> F {
        if y.exceeds(x) { y } else { x }
    }

    // d to the winner; the first operand wins a tie
    fn slope_times<A: Algebra>(operand: usize, s: &Site<'_, A::Value>, d: &A::Value, a: &mut A) -> A::Value {
        to_the_winner(Op::Ge, operand, s, d, a)
    }
}

/// The smaller operand; NaN if one is NaN, the first if they are equal.
pub(crate) struct Minimum;

impl Arithmetic for Minimum {
    const SIGNATURE: Signature = NUMERIC;

    #[inline]
    fn int(x: i64, y: i64) -> Result<i64, EvalError> {
        Ok(x.min(y))
    }

    #[inline]
    fn float<F: Float>(x: F, y: F) -> F {
        if y < x || (y.is_nan() && !x.is_nan()) { y } else { x }
    }

    // d to the winner; the first operand wins a tie
    fn slope_times<A: Algebra>(operand: usize, s: &Site<'_, A::Value>, d: &A::Value, a: &mut A) -> A::Value {
        to_the_winner(Op::Le, operand, s, d, a)
    }
}

/// `d` where the operand wins, 0 elsewhere. The first operand wins where `x₁ wins x₂` is true.
fn to_the_winner<A: Algebra>(
    wins: Op,
    operand: usize,
    s: &Site<'_, A::Value>,
    d: &A::Value,
    a: &mut A,
) -> A::Value {
    let first_wins = a.two(wins, &s.operands[0], &s.operands[1]);
    if operand == 0 { a.keep_where(&first_wins, d) } else { a.keep_where_not(&first_wins, d) }
}

/// The Euclidean quotient, the one that leaves a remainder `0 ≤ r < |x₂|`.
pub(crate) struct IntDiv;

impl Arithmetic for IntDiv {
    const SIGNATURE: Signature = INTS;

    #[inline]
    fn int(x: i64, y: i64) -> Result<i64, EvalError> {
        if y == 0 {
            return Err(EvalError::DivisionByZero);
        }
        x.checked_div_euclid(y).ok_or(EvalError::IntegerOverflow)
    }

    fn slope_times<A: Algebra>(_: usize, _: &Site<'_, A::Value>, _: &A::Value, _: &mut A) -> A::Value {
        unreachable!("integers have no derivative")
    }
}

/// The Euclidean remainder `0 ≤ r < |x₂|`.
pub(crate) struct IntMod;

impl Arithmetic for IntMod {
    const SIGNATURE: Signature = INTS;

    #[inline]
    fn int(x: i64, y: i64) -> Result<i64, EvalError> {
        if y == 0 {
            return Err(EvalError::DivisionByZero);
        }
        // Decision: the smallest integer modulo -1 is 0 rather than an overflow; only the quotient does not
        // fit.
        Ok(x.wrapping_rem_euclid(y))
    }

    fn slope_times<A: Algebra>(_: usize, _: &Site<'_, A::Value>, _: &A::Value, _: &mut A) -> A::Value {
        unreachable!("integers have no derivative")
    }
}

/// Applies a function to each pair of elements.
pub(crate) struct Binary<T>(pub T);

impl<T: Arithmetic> Operation for Binary<T> {
    fn signature(&self) -> Signature {
        T::SIGNATURE
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Broadcast
    }

    #[inline]
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        match operands {
            [Value::Num(x), Value::Num(y)] => Ok(Value::Num(T::float(*x, *y))),
            [Value::Int(x), Value::Int(y)] => T::int(*x, *y).map(Value::Int),
            _ => eval_tensors::<T>(operands),
        }
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        T::SIGNATURE.result != INT
    }

    fn vjp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        let full = T::slope_times(operand, s, g, a);
        a.reduced(&full, &s.shapes[operand])
    }

    fn jvp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        let own = T::slope_times(operand, s, t, a);
        a.stretched(&own, s.result_shape)
    }
}

/// The function on floats, in a form that is inlined into loops.
struct OnFloats<T>(PhantomData<T>);

impl<T: Arithmetic, F: Float> Pairwise<F, F, EvalError> for OnFloats<T> {
    #[inline(always)]
    fn at(&self, x: F, y: F) -> Result<F, EvalError> {
        Ok(T::float(x, y))
    }
}

/// Separate from the scalar case, which is hot and must stay small.
#[inline(never)]
fn eval_tensors<T: Arithmetic>(operands: &[&Value]) -> Result<Value, EvalError> {
    let [x, y] = operands else { unreachable!("a binary operation has two operands") };
    match x.kind() {
        Kind::Int => try_zip(x, y, T::int),
        _ => with_float!(x, F => zip_with::<F, F, EvalError>(x, y, OnFloats(PhantomData::<T>))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, eval};

    #[test]
    fn numbers_and_integers_are_added() {
        check(&Op::Add, &["1.5", "2.0"], "num [] 3.5");
        check(&Op::Add, &["1", "2"], "int [] 3");
        check(&Op::Sub, &["[1,2]", "[3,5]"], "int [2] [-2,-3]");
        check(&Op::Mul, &["[1.0,2.0]", "3.0"], "num [2] [3,6]");
    }

    #[test]
    fn operands_broadcast() {
        check(&Op::Add, &["[[1],[2]]", "[10,20,30]"], "int [2,3] [[11,21,31],[12,22,32]]");
        check(&Op::Sub, &["[10,20]", "[[1,2],[3,4]]"], "int [2,2] [[9,18],[7,16]]");
        check(&Op::Sub, &["[[1.0],[2.0]]", "1.0"], "num [2,1] [[0],[1]]");
        check(&Op::Add, &["[1,2,3]", "[1,2]"], "shapes [3] and [2] do not broadcast");
    }

    #[test]
    fn integer_overflow_is_an_error() {
        check(&Op::Add, &["9223372036854775807", "1"], "integer overflow");
        check(&Op::Sub, &["[-9223372036854775808]", "1"], "integer overflow");
        check(&Op::Mul, &["[4611686018427387904,1]", "[2,1]"], "integer overflow");
        check(&Op::IntDiv, &["-9223372036854775808", "-1"], "integer overflow");
    }

    #[test]
    fn division_of_numbers_is_ieee() {
        check(&Op::Div, &["[1.0,-1.0,0.0]", "0.0"], "num [3] [inf,-inf,nan]");
        check(&Op::Div, &["1.0", "-0.0"], "num [] -inf");
        check(&Op::Pow, &["2.0", "[3.0,-1.0,0.5]"], "num [3] [8,0.5,1.4142135623730951]");
    }

    #[test]
    fn integer_division_is_euclidean() {
        check(&Op::IntDiv, &["[7,-7,7,-7]", "[2,2,-2,-2]"], "int [4] [3,-4,-3,4]");
        check(&Op::IntMod, &["[7,-7,7,-7]", "[2,2,-2,-2]"], "int [4] [1,1,1,1]");
        check(&Op::IntMod, &["-9223372036854775808", "-1"], "int [] 0");
        check(&Op::IntDiv, &["1", "0"], "division by zero");
        check(&Op::IntMod, &["[1,2]", "[1,0]"], "division by zero");
    }

    #[test]
    fn nan_shows_in_maximum_and_minimum() {
        for op in [Op::Maximum, Op::Minimum] {
            check(&op, &["[nan,1.0,nan]", "[1.0,nan,nan]"], "num [3] [nan,nan,nan]");
        }
        check(&Op::Maximum, &["[1.0,-2.0]", "[0.5,inf]"], "num [2] [1,inf]");
        check(&Op::Minimum, &["[1.0,-2.0]", "[0.5,inf]"], "num [2] [0.5,-2]");
        check(&Op::Maximum, &["[1,-2]", "0"], "int [2] [1,0]");
        check(&Op::Minimum, &["[1,-2]", "0"], "int [2] [0,-2]");
    }

    #[test]
    fn ties_take_the_first_operand() {
        // Zeros of different signs are equal; 1 / x distinguishes them.
        let first = eval(&Op::Maximum, &[&Value::Num(-0.0), &Value::Num(0.0)]);
        assert_eq!(first, Value::Num(-0.0));
        let first = eval(&Op::Minimum, &[&Value::Num(0.0), &Value::Num(-0.0)]);
        assert_eq!(first, Value::Num(0.0));
    }
}
