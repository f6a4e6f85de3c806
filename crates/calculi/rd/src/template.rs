//! The reverse derivative `op_r(⟨x,w⟩)` of each operation (section 5), written once.
//!
//! A template uses base operations only, so derivatives exist to every order. It is a function over any
//! [`Algebra`]: on floats it computes, on tape numbers it computes and records, on terms it writes the trace
//! term that *defines* the reverse operation. All engines therefore multiply the same numbers.
//!
//! `op_r` is defined exactly where `op` is. Therefore templates of partial operations compute the primal
//! operation first, even if its value is not used: the derivative of `log` at -1 is `undefined: log at -1`,
//! not `1 / -1`.

use crate::operation::Scalar;

/// Numbers to which the operations on reals apply.
pub trait Algebra {
    type Number: Copy;
    /// The error of an undefined operation.
    type Error;

    fn constant(&mut self, value: f64) -> Self::Number;
    fn unary(&mut self, op: Scalar, x: Self::Number) -> Result<Self::Number, Self::Error>;
    fn binary(&mut self, op: Scalar, x: Self::Number, y: Self::Number) -> Result<Self::Number, Self::Error>;
}

/// The cotangent of the argument of a unary operation at `x`, given the cotangent `w` of its result.
///
/// Most templates need the result of the operation; a caller that has the result passes it as `known`, so
/// that it is not computed again.
#[inline]
pub fn reverse_unary<A: Algebra>(
    alg: &mut A,
    op: Scalar,
    x: A::Number,
    known: Option<A::Number>,
    w: A::Number,
) -> Result<A::Number, A::Error> {
    use Scalar::{Add, Cos, Div, Exp, Log, Mul, Neg, Pow, Powi, Sigmoid, Sin, Sqrt, Sub, Tan, Tanh};
    let result = |alg: &mut A| known.map_or_else(|| alg.unary(op, x), Ok);
    match op {
        Neg => alg.unary(Neg, w),
        Exp => {
            let e = result(alg)?;
            alg.binary(Mul, w, e)
        }
        Log => {
            result(alg)?;
            alg.binary(Div, w, x)
        }
        Sin => {
            let c = alg.unary(Cos, x)?;
            alg.binary(Mul, w, c)
        }
        Cos => {
            let s = alg.unary(Sin, x)?;
            let ws = alg.binary(Mul, w, s)?;
            alg.unary(Neg, ws)
        }
        Tan => {
            let t = result(alg)?;
            let tt = alg.binary(Mul, t, t)?;
            let one = alg.constant(1.0);
            let slope = alg.binary(Add, one, tt)?;
            alg.binary(Mul, w, slope)
        }
        Tanh => {
            let t = result(alg)?;
            let tt = alg.binary(Mul, t, t)?;
            let one = alg.constant(1.0);
            let slope = alg.binary(Sub, one, tt)?;
            alg.binary(Mul, w, slope)
        }
        Sigmoid => {
            let s = result(alg)?;
            let one = alg.constant(1.0);
            let rest = alg.binary(Sub, one, s)?;
            let slope = alg.binary(Mul, s, rest)?;
            alg.binary(Mul, w, slope)
        }
        Sqrt => {
            let s = result(alg)?;
            let two = alg.constant(2.0);
            let double = alg.binary(Mul, two, s)?;
            alg.binary(Div, w, double)
        }
        Powi(0) => Ok(alg.constant(0.0)),
        #[allow(clippy::cast_precision_loss)] // exponents are within ±2^53, see the parser
        Powi(k) => {
            if k < 0 {
                result(alg)?;
            }
            let factor = alg.constant(k as f64);
            let power = alg.unary(Powi(k - 1), x)?;
            let slope = alg.binary(Mul, factor, power)?;
            alg.binary(Mul, w, slope)
        }
        Add | Sub | Mul | Div | Pow => unreachable!("a binary operation has two arguments"),
    }
}

/// The cotangents of the two arguments of a binary operation at `(a, b)`, given that of its result; `known`
/// as for [`reverse_unary`].
#[inline]
pub fn reverse_binary<A: Algebra>(
    alg: &mut A,
    op: Scalar,
    (a, b): (A::Number, A::Number),
    known: Option<A::Number>,
    w: A::Number,
) -> Result<(A::Number, A::Number), A::Error> {
    use Scalar::{Add, Div, Log, Mul, Neg, Pow, Sub};
    let result = |alg: &mut A| known.map_or_else(|| alg.binary(op, a, b), Ok);
    match op {
        Add => Ok((w, w)),
        Sub => Ok((w, alg.unary(Neg, w)?)),
        Mul => Ok((alg.binary(Mul, w, b)?, alg.binary(Mul, w, a)?)),
        Div => {
            let q = result(alg)?;
            let t = alg.binary(Div, w, b)?;
            let qt = alg.binary(Mul, q, t)?;
            Ok((t, alg.unary(Neg, qt)?))
        }
        Pow => {
            let p = result(alg)?;
            let one = alg.constant(1.0);
            let lower = alg.binary(Sub, b, one)?;
            let power = alg.binary(Pow, a, lower)?;
            let slope = alg.binary(Mul, b, power)?;
            let da = alg.binary(Mul, w, slope)?;
            let log = alg.unary(Log, a)?;
            let slope = alg.binary(Mul, p, log)?;
            Ok((da, alg.binary(Mul, w, slope)?))
        }
        _ => unreachable!("a unary operation has one argument"),
    }
}
