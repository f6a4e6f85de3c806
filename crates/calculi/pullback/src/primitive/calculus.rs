//! Scalar operations, their values, and the one definition of their derivatives.
//!
//! A derivative is again a list of operations, which can be applied to reals, to nodes, or to cells on a tape
//! that is itself differentiated. A tangent or adjoint that is certainly zero is `None` and is skipped, so no
//! zero is multiplied by an infinity.

use super::Undefined;
use eddy_syntax::real::Real;

/// Operations on one real.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-x`.
    Neg,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Tanh,
    Sqrt,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// `1 / x`.
    Recip,
    /// `x^k`; `x^0` is 1 everywhere.
    Pow(u32),
}

/// Operations on two reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `x + y`.
    Add,
    /// `x - y`.
    Sub,
    /// `x * y`.
    Mul,
    /// `x / y`.
    Div,
}

/// The numbers to which derivatives apply.
pub trait Arithmetic {
    type Number: Copy;
    type Error;
    fn constant(&mut self, value: f64) -> Self::Number;
    fn unary(&mut self, op: Unary, a: Self::Number) -> Result<Self::Number, Self::Error>;
    fn binary(&mut self, op: Binary, a: Self::Number, b: Self::Number) -> Result<Self::Number, Self::Error>;
}

/// `slot += part`.
pub fn accumulate<A: Arithmetic>(
    on: &mut A,
    slot: &mut Option<A::Number>,
    part: Option<A::Number>,
) -> Result<(), A::Error> {
    *slot = sum(on, *slot, part)?;
    Ok(())
}

fn sum<A: Arithmetic>(
    on: &mut A,
    left: Option<A::Number>,
    right: Option<A::Number>,
) -> Result<Option<A::Number>, A::Error> {
    Ok(match (left, right) {
        (Some(left), Some(right)) => Some(on.binary(Binary::Add, left, right)?),
        (left, right) => left.or(right),
    })
}

/// `∂op(a)/∂a · d`, where `out` is `op(a)`; this linear map is its own transpose.
pub fn push_unary<A: Arithmetic>(
    on: &mut A,
    op: Unary,
    a: A::Number,
    out: A::Number,
    d: A::Number,
) -> Result<Option<A::Number>, A::Error> {
    let slope = match op {
        Unary::Neg => return Ok(Some(on.unary(Unary::Neg, d)?)),
        Unary::Pow(0) => return Ok(None),
        Unary::Pow(1) => return Ok(Some(d)),
        Unary::Log => return Ok(Some(on.binary(Binary::Div, d, a)?)),
        Unary::Exp => out,
        Unary::Sin => on.unary(Unary::Cos, a)?,
        Unary::Cos => {
            let sine = on.unary(Unary::Sin, a)?;
            on.unary(Unary::Neg, sine)?
        }
        // 1 + tan², 1 - tanh²
        Unary::Tan | Unary::Tanh => {
            let (one, square) = (on.constant(1.0), on.binary(Binary::Mul, out, out)?);
            on.binary(if op == Unary::Tan { Binary::Add } else { Binary::Sub }, one, square)?
        }
        // 1 / (2 √a)
        Unary::Sqrt => {
            let double = on.binary(Binary::Add, out, out)?;
            return Ok(Some(on.binary(Binary::Div, d, double)?));
        }
        // s (1 - s)
        Unary::Sigmoid => {
            let one = on.constant(1.0);
            let rest = on.binary(Binary::Sub, one, out)?;
            on.binary(Binary::Mul, out, rest)?
        }
        // -1/a²
        Unary::Recip => {
            let square = on.binary(Binary::Mul, out, out)?;
            on.unary(Unary::Neg, square)?
        }
        Unary::Pow(2) => on.binary(Binary::Add, a, a)?,
        Unary::Pow(k) => {
            let factor = on.constant(f64::from(k));
            let power = on.unary(Unary::Pow(k - 1), a)?;
            on.binary(Binary::Mul, factor, power)?
        }
    };
    Ok(Some(on.binary(Binary::Mul, slope, d)?))
}

/// `∂op(a,b)/∂a · da + ∂op(a,b)/∂b · db`, where `out` is `op(a,b)`.
pub fn push_binary<A: Arithmetic>(
    on: &mut A,
    op: Binary,
    [a, b]: [A::Number; 2],
    out: A::Number,
    [da, db]: [Option<A::Number>; 2],
) -> Result<Option<A::Number>, A::Error> {
    let left = da.map(|da| pull_left(on, op, b, da)).transpose()?;
    let right = db.map(|db| pull_right(on, op, a, b, out, db)).transpose()?;
    sum(on, left, right)
}

/// The contributions of an adjoint of `op(a,b)` to `a` and to `b`.
pub fn pull_binary<A: Arithmetic>(
    on: &mut A,
    op: Binary,
    [a, b]: [A::Number; 2],
    out: A::Number,
    adjoint: A::Number,
) -> Result<[Option<A::Number>; 2], A::Error> {
    let left = pull_left(on, op, b, adjoint)?;
    let right = pull_right(on, op, a, b, out, adjoint)?;
    Ok([Some(left), Some(right)])
}

/// `∂op(a,b)/∂a · d`.
pub fn pull_left<A: Arithmetic>(
    on: &mut A,
    op: Binary,
    b: A::Number,
    d: A::Number,
) -> Result<A::Number, A::Error> {
    match op {
        Binary::Add | Binary::Sub => Ok(d),
        Binary::Mul => on.binary(Binary::Mul, b, d),
        Binary::Div => on.binary(Binary::Div, d, b),
    }
}

/// `∂op(a,b)/∂b · d`.
pub fn pull_right<A: Arithmetic>(
    on: &mut A,
    op: Binary,
    a: A::Number,
    b: A::Number,
    out: A::Number,
    d: A::Number,
) -> Result<A::Number, A::Error> {
    match op {
        Binary::Add => Ok(d),
        Binary::Sub => on.unary(Unary::Neg, d),
        Binary::Mul => on.binary(Binary::Mul, a, d),
        // -a/b² · d
        Binary::Div => {
            let slope = on.binary(Binary::Div, out, b)?;
            let product = on.binary(Binary::Mul, slope, d)?;
            on.unary(Unary::Neg, product)
        }
    }
}

/// Reals as numbers; a result that is not finite is outside of the domain.
pub struct Reals;

impl Arithmetic for Reals {
    type Number = f64;
    type Error = Undefined;

    fn constant(&mut self, value: f64) -> f64 {
        value
    }

    fn unary(&mut self, op: Unary, a: f64) -> Result<f64, Undefined> {
        let value = unary_value(op, a);
        if value.is_finite() { Ok(value) } else { Err(undefined_unary(op, a)) }
    }

    fn binary(&mut self, op: Binary, a: f64, b: f64) -> Result<f64, Undefined> {
        let value = binary_value(op, a, b);
        if value.is_finite() { Ok(value) } else { Err(undefined_binary(op, a, b)) }
    }
}

/// The value, which need not be finite.
pub fn unary_value(op: Unary, a: f64) -> f64 {
    match op {
        Unary::Neg => -a,
        Unary::Exp => a.exp(),
        Unary::Log => a.ln(),
        Unary::Sin => a.sin(),
        Unary::Cos => a.cos(),
        Unary::Tan => a.tan(),
        Unary::Tanh => a.tanh(),
        Unary::Sqrt => a.sqrt(),
        // The two forms are equal; each is accurate where the other overflows.
        Unary::Sigmoid if a < 0.0 => a.exp() / (1.0 + a.exp()),
        Unary::Sigmoid => 1.0 / (1.0 + (-a).exp()),
        Unary::Recip => 1.0 / a,
        Unary::Pow(k) => power(a, k),
    }
}

/// The value, which need not be finite.
pub fn binary_value(op: Binary, a: f64, b: f64) -> f64 {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
    }
}

/// `base^k` by repeated squaring, so that the result is the same on every machine.
fn power(mut base: f64, mut k: u32) -> f64 {
    let mut result = 1.0;
    while k > 0 {
        if k & 1 == 1 {
            result *= base;
        }
        base *= base;
        k >>= 1;
    }
    result
}

/// The error of an operation whose value is not finite.
pub fn undefined_unary(op: Unary, a: f64) -> Undefined {
    let a = Real(a);
    Undefined::new(match op {
        Unary::Neg => format!("-({a})"),
        Unary::Pow(k) => format!("({a})^{k}"),
        Unary::Exp => format!("exp({a})"),
        Unary::Log => format!("log({a})"),
        Unary::Sin => format!("sin({a})"),
        Unary::Cos => format!("cos({a})"),
        Unary::Tan => format!("tan({a})"),
        Unary::Tanh => format!("tanh({a})"),
        Unary::Sqrt => format!("sqrt({a})"),
        Unary::Sigmoid => format!("sigmoid({a})"),
        Unary::Recip => format!("recip({a})"),
    })
}

/// The error of an operation whose value is not finite.
pub fn undefined_binary(op: Binary, a: f64, b: f64) -> Undefined {
    let symbol = match op {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
    };
    Undefined::new(format!("{} {symbol} {}", Real(a), Real(b)))
}
