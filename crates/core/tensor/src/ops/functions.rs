//! Functions of one number, element by element: `- abs relu exp log sqrt tanh sigmoid sin cos lgamma
//! digamma`.
//!
//! As in [`arithmetic`](super::arithmetic), the Jacobian is diagonal, and one formula serves both directions.
//! Where the slope is a function of the result, the formula reads the result instead of computing it again.

use crate::algebra::{Algebra, Formula, Site};
use crate::element::{Float, with_float};
use crate::kernel::{map, try_map};
use crate::op::Op;
use crate::operation::{EvalError, Operation, no_derivative};
use crate::shape_rule::ShapeRule;
use crate::signature::{ALPHA, NUM, Signature};
use crate::value::{Kind, Value};

/// A function of one number.
pub(crate) trait Function {
    const SIGNATURE: Signature = Signature::any(&[NUM], NUM);

    fn int(_x: i64) -> Result<i64, EvalError> {
        unreachable!("operands passed the typing rules: this function is not for integers")
    }

    fn float<F: Float>(x: F) -> F;

    /// `d` times the derivative at `x`, where `y` is the value.
    fn slope_times<A: Algebra>(x: &A::Value, y: &A::Value, d: &A::Value, a: &mut A) -> A::Value;
}

const NUMERIC: Signature = Signature::numeric(&[ALPHA], ALPHA);

/// `-x`.
pub(crate) struct Neg;

impl Function for Neg {
    const SIGNATURE: Signature = NUMERIC;

    #[inline]
    fn int(x: i64) -> Result<i64, EvalError> {
        x.checked_neg().ok_or(EvalError::IntegerOverflow)
    }

    #[inline]
    fn float<F: Float>(x: F) -> F {
        -x
    }

    // -d
    fn slope_times<A: Algebra>(_: &A::Value, _: &A::Value, d: &A::Value, a: &mut A) -> A::Value {
        a.neg(d)
    }
}

/// `|x|`.
pub(crate) struct Abs;

impl Function for Abs {
    const SIGNATURE: Signature = NUMERIC;

    #[inline]
    fn int(x: i64) -> Result<i64, EvalError> {
        x.checked_abs().ok_or(EvalError::IntegerOverflow)
    }

    #[inline]
    fn float<F: Float>(x: F) -> F {
        x.abs()
    }

    // d where x > 0, -d where x < 0, else 0
    fn slope_times<A: Algebra>(x: &A::Value, _: &A::Value, d: &A::Value, a: &mut A) -> A::Value {
        let zero = a.constant(0.0);
        let is_positive = a.two(Op::Gt, x, &zero);
        let is_negative = a.two(Op::Lt, x, &zero);
        let minus = a.neg(d);
        let below = a.keep_where(&is_negative, &minus);
        a.apply(Op::Where, &[is_positive, d.clone(), below])
    }
}

/// `max(x, 0)`
pub(crate) struct Relu;

impl Function for Relu {
    const SIGNATURE: Signature = NUMERIC;

    #[inline]
    fn int(x: i64) -> Result<i64, EvalError> {
        Ok(x.max(0))
    }

    #[inline]
    fn float<F: Float>(x: F) -> F {
        // This form keeps NaN.
        if x <= F::ZERO { F::ZERO } else { x }
    }

    // d where x > 0, else 0
    fn slope_times<A: Algebra>(x: &A::Value, _: &A::Value, d: &A::Value, a: &mut A) -> A::Value {
        let zero = a.constant(0.0);
        let is_positive = a.two(Op::Gt, x, &zero);
        a.keep_where(&is_positive, d)
    }
}

/// `e` to the power `x`.
pub(crate) struct Exp;

impl Function for Exp {
    #[inline]
    fn float<F: Float>(x: F) -> F {
        x.exp()
    }

    // d y
    fn slope_times<A: Algebra>(_: &A::Value, y: &A::Value, d: &A::Value, a: &mut A) -> A::Value {
        a.mul(d, y)
    }
}

pub(crate) struct Log;

impl Function for Log {
    #[inline]
    fn float<F: Float>(x: F) -> F {
        x.log()
    }

    // d / x
    fn slope_times<A: Algebra>(x: &A::Value, _: &A::Value, d: &A::Value, a: &mut A) -> A::Value {
        a.div(d, x)
    }
}

pub(crate) struct Sqrt;

impl Function for Sqrt {
    #[inline]
    fn float<F: Float>(x: F) -> F {
        x.sqrt()
    }

    // d (0.5 / y)
    fn slope_times<A: Algebra>(_: &A::Value, y: &A::Value, d: &A::Value, a: &mut A) -> A::Value {
        let half = a.constant(0.5);
        let slope = a.div(&half, y);
        a.mul(d, &slope)
    }
}

pub(crate) struct Tanh;

impl Function for Tanh {
    #[inline]
    fn float<F: Float>(x: F) -> F {
        x.tanh()
    }

    // d (1 - y y)
    fn slope_times<A: Algebra>(_: &A::Value, y: &A::Value, d: &A::Value, a: &mut A) -> A::Value {
        let one = a.constant(1.0);
        let square = a.mul(y, y);
        let slope = a.sub(&one, &square);
        a.mul(d, &slope)
    }
}

/// The logistic function σ(x) = 1 / (1 + exp(-x)).
pub(crate) struct Sigmoid;

impl Function for Sigmoid {
    #[inline]
    fn float<F: Float>(x: F) -> F {
        x.sigmoid()
    }

    // d (y (1 - y))
    fn slope_times<A: Algebra>(_: &A::Value, y: &A::Value, d: &A::Value, a: &mut A) -> A::Value {
        let one = a.constant(1.0);
        let rest = a.sub(&one, y);
        let slope = a.mul(y, &rest);
        a.mul(d, &slope)
    }
}

pub(crate) struct Sin;

impl Function for Sin {
    #[inline]
    fn float<F: Float>(x: F) -> F {
        x.sin()
    }

    // d cos x
    fn slope_times<A: Algebra>(x: &A::Value, _: &A::Value, d: &A::Value, a: &mut A) -> A::Value {
        let cosine = a.one(Op::Cos, x);
        a.mul(d, &cosine)
    }
}

pub(crate) struct Cos;

impl Function for Cos {
    #[inline]
    fn float<F: Float>(x: F) -> F {
        x.cos()
    }

    // -(d sin x)
    fn slope_times<A: Algebra>(x: &A::Value, _: &A::Value, d: &A::Value, a: &mut A) -> A::Value {
        let sine = a.one(Op::Sin, x);
        let product = a.mul(d, &sine);
        a.neg(&product)
    }
}

/// The logarithm of the gamma function.
pub(crate) struct Lgamma;

impl Function for Lgamma {
    #[inline]
    fn float<F: Float>(x: F) -> F {
        x.lgamma()
    }

    // d digamma(x)
    fn slope_times<A: Algebra>(x: &A::Value, _: &A::Value, d: &A::Value, a: &mut A) -> A::Value {
        let slope = a.one(Op::Digamma, x);
        a.mul(d, &slope)
    }
}

/// The derivative of [`Lgamma`]. Its own derivative is no operation of the table; functions refuse to
/// differentiate it.
pub(crate) struct Digamma;

impl Operation for Digamma {
    fn signature(&self) -> Signature {
        Signature::any(&[NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Equal
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let [x] = operands else { unreachable!("a unary operation has one operand") };
        Ok(match x {
            Value::Num(x) => Value::Num(x.digamma()),
            x => with_float!(x, F => map(x, F::digamma)),
        })
    }

    no_derivative!();
}

/// Applies a function to each element.
pub(crate) struct Unary<T>(pub T);

impl<T: Function> Operation for Unary<T> {
    fn signature(&self) -> Signature {
        T::SIGNATURE
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Equal
    }

    #[inline]
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        match operands {
            [Value::Num(x)] => Ok(Value::Num(T::float(*x))),
            [Value::Int(x)] => T::int(*x).map(Value::Int),
            _ => eval_tensor::<T>(operands),
        }
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    fn vjp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        T::slope_times(&s.operands[0], s.result, g, a)
    }

    fn jvp<A: Algebra>(&self, _: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        T::slope_times(&s.operands[0], s.result, t, a)
    }
}

/// Separate from the scalar case, which is hot and must stay small.
#[inline(never)]
fn eval_tensor<T: Function>(operands: &[&Value]) -> Result<Value, EvalError> {
    let [x] = operands else { unreachable!("a unary operation has one operand") };
    match x.kind() {
        Kind::Int => try_map(x, T::int),
        _ => Ok(with_float!(x, F => map(x, T::float::<F>))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;
    use crate::testing::{check, eval};

    #[test]
    fn signs() {
        check(&Op::Neg, &["[1.5,-2.0]"], "num [2] [-1.5,2]");
        check(&Op::Neg, &["3"], "int [] -3");
        check(&Op::Abs, &["[1.5,-2.0,-inf]"], "num [3] [1.5,2,inf]");
        check(&Op::Abs, &["[1,-2]"], "int [2] [1,2]");
        check(&Op::Relu, &["[1.5,-2.0,nan]"], "num [3] [1.5,0,nan]");
        check(&Op::Relu, &["[1,-2]"], "int [2] [1,0]");
    }

    #[test]
    fn the_smallest_integer_has_no_opposite() {
        check(&Op::Neg, &["-9223372036854775808"], "integer overflow");
        check(&Op::Abs, &["[1,-9223372036854775808]"], "integer overflow");
    }

    /// The references have rounding errors of their own, in the last digit.
    #[track_caller]
    fn check_near(op: &Op, x: f64, expected: f64) {
        for operand in [Value::Num(x), eval(&Op::Stack, &[&Value::Num(x)])] {
            let result = eval(op, &[&operand]);
            assert_eq!(result.shape(), operand.shape());
            let [y] = f64::slice(&result) else { panic!("one element stays one element") };
            assert!((y - expected).abs() <= 1e-15 * expected.abs(), "{op:?} of {x} is {y}, not {expected}");
        }
    }

    #[test]
    fn elementary_functions() {
        check_near(&Op::Exp, 1.0, std::f64::consts::E);
        check_near(&Op::Log, 2.0, std::f64::consts::LN_2);
        check_near(&Op::Sqrt, 2.0, std::f64::consts::SQRT_2);
        check_near(&Op::Tanh, 0.5, 0.462_117_157_260_009_75);
        check_near(&Op::Sigmoid, 0.5, 0.622_459_331_201_854_6);
        check_near(&Op::Sigmoid, -0.5, 0.377_540_668_798_145_4);
        check_near(&Op::Sin, 0.5, 0.479_425_538_604_203);
        check_near(&Op::Cos, 0.5, 0.877_582_561_890_372_8);
    }

    #[test]
    fn at_their_edges() {
        check(&Op::Log, &["[1.0,0.0,-1.0]"], "num [3] [0,-inf,nan]");
        check(&Op::Sqrt, &["[[4.0],[-1.0]]"], "num [2,1] [[2],[nan]]");
        check(&Op::Tanh, &["[0.0,-100.0]"], "num [2] [0,-1]");
        check(&Op::Exp, &["[-1000.0,1000.0]"], "num [2] [0,inf]");
    }

    #[test]
    fn the_sigmoid_never_overflows() {
        check(&Op::Sigmoid, &["[0.0,1000.0,-1000.0]"], "num [3] [0.5,1,0]");
        check(&Op::Sigmoid, &["nan"], "num [] nan");
    }
}
