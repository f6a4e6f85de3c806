//! Dual numbers: forward-mode derivatives of every operation, to every order.

use std::rc::Rc;

use crate::operation::{Scalar, Undefined, finite};

/// A real: a float, or a dual number `primal + tangent·ε_tag`, whose parts have smaller tags only.
#[derive(Clone, Debug)]
pub enum Number {
    Float(f64),
    Dual(Rc<Dual>),
}

#[derive(Debug)]
pub struct Dual {
    tag: u64,
    primal: Number,
    tangent: Number,
}

impl Number {
    pub fn dual(tag: u64, primal: Number, tangent: Number) -> Number {
        Number::Dual(Rc::new(Dual { tag, primal, tangent }))
    }

    /// The tag at which an operation on this number works; 0 for floats.
    pub fn tag(&self) -> u64 {
        match self {
            Number::Float(_) => 0,
            Number::Dual(dual) => dual.tag,
        }
    }

    /// Primal and tangent at a tag; a number that lacks the tag is a constant there.
    pub fn parts(&self, tag: u64) -> (Number, Option<Number>) {
        match self {
            Number::Dual(dual) if dual.tag == tag => (dual.primal.clone(), Some(dual.tangent.clone())),
            _ => (self.clone(), None),
        }
    }

    /// The innermost float, which predicates compare.
    pub fn float(&self) -> f64 {
        let mut number = self;
        loop {
            match number {
                Number::Float(value) => return *value,
                Number::Dual(dual) => number = &dual.primal,
            }
        }
    }
}

pub struct Arithmetic {
    /// Whether every result so far was a binary fraction of few digits.
    pub is_exact: bool,
}

impl Arithmetic {
    pub fn unary(&mut self, op: Scalar, x: &Number) -> Result<Number, Undefined> {
        match x {
            Number::Float(x) => self.float(op, *x, 0.0),
            Number::Dual(dual) => {
                let primal = self.unary(op, &dual.primal)?;
                let slope = self.slope(op, &dual.primal, &primal)?;
                let tangent = self.binary(Scalar::Mul, &dual.tangent, &slope)?;
                Ok(Number::dual(dual.tag, primal, tangent))
            }
        }
    }

    pub fn binary(&mut self, op: Scalar, x: &Number, y: &Number) -> Result<Number, Undefined> {
        let tag = x.tag().max(y.tag());
        if tag == 0 {
            return self.float(op, x.float(), y.float());
        }
        let ((x, dx), (y, dy)) = (x.parts(tag), y.parts(tag));
        let primal = self.binary(op, &x, &y)?;
        let tangent = self.tangent(op, (&x, dx), (&y, dy), &primal)?;
        Ok(Number::dual(tag, primal, tangent.unwrap_or(Number::Float(0.0))))
    }

    fn float(&mut self, op: Scalar, x: f64, y: f64) -> Result<Number, Undefined> {
        if !op.is_defined(x, y) {
            return Err(op.outside(x, y));
        }
        let value = finite(op.raw(x, y))?;
        self.is_exact &= has_few_digits(value);
        Ok(Number::Float(value))
    }

    /// The derivative of a unary operation at `x`, where its value is `y`.
    #[allow(clippy::cast_precision_loss)] // exponents are within ±2^53, see the parser
    fn slope(&mut self, op: Scalar, x: &Number, y: &Number) -> Result<Number, Undefined> {
        use Scalar::{Add, Cos, Div, Exp, Log, Mul, Neg, Pow, Powi, Sigmoid, Sin, Sqrt, Sub, Tan, Tanh};
        let one = Number::Float(1.0);
        match op {
            Neg => Ok(Number::Float(-1.0)),
            Exp => Ok(y.clone()),
            Log => self.binary(Div, &one, x),
            Sin => self.unary(Cos, x),
            Cos => {
                let sin = self.unary(Sin, x)?;
                self.unary(Neg, &sin)
            }
            Tan => {
                let square = self.binary(Mul, y, y)?;
                self.binary(Add, &square, &one)
            }
            Tanh => {
                let square = self.binary(Mul, y, y)?;
                self.binary(Sub, &one, &square)
            }
            Sigmoid => {
                let rest = self.binary(Sub, &one, y)?;
                self.binary(Mul, &rest, y)
            }
            Sqrt => self.binary(Div, &Number::Float(0.5), y),
            Powi(0) => Ok(Number::Float(0.0)),
            Powi(k) => {
                let lower = self.unary(Powi(k - 1), x)?;
                self.binary(Mul, &lower, &Number::Float(k as f64))
            }
            Add | Sub | Mul | Div | Pow => unreachable!("a binary operation has two slopes"),
        }
    }

    /// The tangent of a binary operation at `(x, y)`, where its value is `z`; `None` stands for a zero
    /// tangent.
    fn tangent(
        &mut self,
        op: Scalar,
        (x, dx): (&Number, Option<Number>),
        (y, dy): (&Number, Option<Number>),
        z: &Number,
    ) -> Result<Option<Number>, Undefined> {
        use Scalar::{Add, Div, Log, Mul, Neg, Pow, Sub};
        let by_x = match (op, dx) {
            (_, None) => None,
            (Add | Sub, Some(dx)) => Some(dx),
            (Mul, Some(dx)) => Some(self.binary(Mul, &dx, y)?),
            (Div, Some(dx)) => Some(self.binary(Div, &dx, y)?),
            // ∂(x^y)/∂x = y·x^(y-1)
            (Pow, Some(dx)) => {
                let lower = self.binary(Sub, y, &Number::Float(1.0))?;
                let power = self.binary(Pow, x, &lower)?;
                let slope = self.binary(Mul, &power, y)?;
                Some(self.binary(Mul, &dx, &slope)?)
            }
            _ => unreachable!("a unary operation has one slope"),
        };
        let by_y = match (op, dy) {
            (_, None) => None,
            (Add, Some(dy)) => Some(dy),
            (Sub, Some(dy)) => Some(self.unary(Neg, &dy)?),
            (Mul, Some(dy)) => Some(self.binary(Mul, x, &dy)?),
            // ∂(x/y)/∂y = -z/y
            (Div, Some(dy)) => {
                let quotient = self.binary(Div, z, y)?;
                let product = self.binary(Mul, &quotient, &dy)?;
                Some(self.unary(Neg, &product)?)
            }
            // ∂(x^y)/∂y = z·log x
            (Pow, Some(dy)) => {
                let log = self.unary(Log, x)?;
                let slope = self.binary(Mul, &log, z)?;
                Some(self.binary(Mul, &dy, &slope)?)
            }
            _ => unreachable!("a unary operation has one slope"),
        };
        self.add(by_x, by_y)
    }

    pub fn add(&mut self, left: Option<Number>, right: Option<Number>) -> Result<Option<Number>, Undefined> {
        match (left, right) {
            (Some(left), Some(right)) => Ok(Some(self.binary(Scalar::Add, &left, &right)?)),
            (left, right) => Ok(left.or(right)),
        }
    }
}

/// Whether a number is a multiple of 2^-16 below 2^16. Sums and products of such numbers, and sums of a few
/// such products, fit in the 53 digits of a float.
fn has_few_digits(value: f64) -> bool {
    const GRID: f64 = 65_536.0;
    value.abs() < GRID && (value * GRID).fract() == 0.0
}
