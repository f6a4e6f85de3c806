//! The element types, abstracted so that one generic kernel serves `bool`, `int` and both precisions of
//! `num`.
//!
//! * [`Element`]: can be stored. This is enough for operations that only move elements.
//! * [`Number`]: can be added and compared. Integers overflow, floats do not.
//! * [`Float`]: has elementary functions, those of `eddy-elementary`, with the same bits as in compiled C. A
//!   kernel over `Float` is the same code for f64 and f32.
//!
//! [`with_element`], [`with_number`] and [`with_float`] select the instance for a value at run time.

use std::ops::{Add, Div, Mul, Neg, Sub};

use eddy_elementary::{double, single};

use crate::operation::EvalError;
use crate::shape::Shape;
use crate::tensor::Data;
use crate::value::Value;

/// An element of a tensor.
pub(crate) trait Element: Copy + PartialEq + PartialOrd + 'static {
    /// `0` or `false`.
    const ZERO: Self;

    /// The elements of a value; a scalar has one. Panics if the type differs.
    fn slice(value: &Value) -> &[Self];

    fn scalar(self) -> Value;

    fn data(elements: Vec<Self>) -> Data;

    /// Whether both have the same bits; all NaNs count as identical.
    fn is_identical(self, other: Self) -> bool;

    /// A value of this shape. The number of elements must match.
    fn value(shape: Shape, elements: Vec<Self>) -> Value {
        if shape.is_scalar() { elements[0].scalar() } else { Value::from_parts(shape, Self::data(elements)) }
    }
}

macro_rules! element {
    ($ty:ty, $variant:ident, $zero:literal, $identical:expr) => {
        impl Element for $ty {
            const ZERO: Self = $zero;

            #[inline]
            fn slice(value: &Value) -> &[Self] {
                match value {
                    Value::$variant(scalar) => std::slice::from_ref(scalar),
                    Value::Tensor(tensor) => match &tensor.data {
                        Data::$variant(elements) => elements,
                        other => unreachable!("operands passed the typing rules, yet found {other:?}"),
                    },
                    other => unreachable!("operands passed the typing rules, yet found {other:?}"),
                }
            }

            #[inline]
            fn scalar(self) -> Value {
                Value::$variant(self)
            }

            fn data(elements: Vec<Self>) -> Data {
                Data::$variant(elements)
            }

            #[inline]
            fn is_identical(self, other: Self) -> bool {
                let identical: fn(Self, Self) -> bool = $identical;
                identical(self, other)
            }
        }
    };
}

element!(bool, Bool, false, |a, b| a == b);
element!(i64, Int, 0, |a, b| a == b);
element!(f64, Num, 0.0, |a, b| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());
element!(f32, Num32, 0.0, |a, b| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());

pub(crate) trait Number: Element {
    const ONE: Self;

    /// The initial value of an accumulator. Sums start from their first term, which is equivalent to adding
    /// to the neutral element. For floats that is -0, because `0 + -0` is 0 and would lose the sign of the
    /// first term.
    const NEUTRAL: Self;

    fn plus(self, other: Self) -> Result<Self, EvalError>;

    fn is_nan(self) -> bool;

    /// Whether this is the larger number.
    ///
    /// Decision: NaN counts as larger than any number, so that every maximum propagates it, in any position.
    #[inline]
    fn exceeds(self, other: Self) -> bool {
        self > other || (self.is_nan() && !other.is_nan())
    }

    /// Accumulators for sums of `n_terms` terms; the sum of a single term is exactly that term.
    fn accumulators(n: usize, n_terms: usize) -> Vec<Self> {
        vec![if n_terms == 0 { Self::ZERO } else { Self::NEUTRAL }; n]
    }
}

impl Number for i64 {
    const ONE: i64 = 1;
    const NEUTRAL: i64 = 0;

    #[inline]
    fn plus(self, other: i64) -> Result<i64, EvalError> {
        self.checked_add(other).ok_or(EvalError::IntegerOverflow)
    }

    #[inline]
    fn is_nan(self) -> bool {
        false
    }
}

pub(crate) trait Float:
    Number
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    fn from_size(n: usize) -> Self;
    /// `int(x)`; `None` if it is out of range.
    fn truncated(self) -> Option<i64>;
    /// `self * y + sum`, rounded once.
    fn times_plus(self, y: Self, sum: Self) -> Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn log(self) -> Self;
    fn tanh(self) -> Self;
    fn sigmoid(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn lgamma(self) -> Self;
    fn digamma(self) -> Self;
    fn pow(self, exponent: Self) -> Self;
}

macro_rules! float {
    ($ty:ident, $elementary:ident) => {
        impl Number for $ty {
            const ONE: $ty = 1.0;
            const NEUTRAL: $ty = -0.0;

            #[inline]
            fn plus(self, other: $ty) -> Result<$ty, EvalError> {
                Ok(self + other)
            }

            #[inline]
            fn is_nan(self) -> bool {
                $ty::is_nan(self)
            }
        }

        impl Float for $ty {
            #[allow(clippy::cast_precision_loss)] // a size is below 2^28; a rounded f32 is what f32 means
            fn from_size(n: usize) -> $ty {
                n as $ty
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
            fn truncated(self) -> Option<i64> {
                // Both bounds are powers of two, hence exact; NaN is outside of every range.
                let bound = (1_u64 << 63) as $ty;
                (-bound..bound).contains(&self).then_some(self as i64)
            }

            #[inline(always)]
            fn times_plus(self, y: $ty, sum: $ty) -> $ty {
                $ty::mul_add(self, y, sum)
            }

            #[inline(always)]
            fn abs(self) -> $ty {
                $ty::abs(self)
            }

            #[inline(always)]
            fn sqrt(self) -> $ty {
                $ty::sqrt(self)
            }

            #[inline(always)]
            fn exp(self) -> $ty {
                $elementary::exp(self)
            }

            #[inline(always)]
            fn log(self) -> $ty {
                $elementary::log(self)
            }

            #[inline(always)]
            fn tanh(self) -> $ty {
                $elementary::tanh(self)
            }

            #[inline(always)]
            fn lgamma(self) -> $ty {
                $elementary::lgamma(self)
            }

            #[inline(always)]
            fn digamma(self) -> $ty {
                $elementary::digamma(self)
            }

            #[inline(always)]
            fn sigmoid(self) -> $ty {
                $elementary::sigmoid(self)
            }

            #[inline(always)]
            fn sin(self) -> $ty {
                $elementary::sin(self)
            }

            #[inline(always)]
            fn cos(self) -> $ty {
                $elementary::cos(self)
            }

            #[inline(always)]
            fn pow(self, exponent: $ty) -> $ty {
                $elementary::pow(self, exponent)
            }
        }
    };
}

float!(f64, double);
float!(f32, single);

/// `with_element!(value, T => body)`: evaluates the body with `T` as the element type of the value.
macro_rules! with_element {
    ($value:expr, $T:ident => $body:expr) => {
        match $value.kind() {
            $crate::value::Kind::Bool => {
                type $T = bool;
                $body
            }
            $crate::value::Kind::Int => {
                type $T = i64;
                $body
            }
            $crate::value::Kind::Num => {
                type $T = f64;
                $body
            }
            $crate::value::Kind::Num32 => {
                type $T = f32;
                $body
            }
        }
    };
}

/// [`with_element`] for `int` and `num`.
macro_rules! with_number {
    ($value:expr, $T:ident => $body:expr) => {
        match $value.kind() {
            $crate::value::Kind::Int => {
                type $T = i64;
                $body
            }
            $crate::value::Kind::Num => {
                type $T = f64;
                $body
            }
            $crate::value::Kind::Num32 => {
                type $T = f32;
                $body
            }
            $crate::value::Kind::Bool => unreachable!("operands passed the typing rules: not numbers"),
        }
    };
}

/// [`with_element`] for `num`.
macro_rules! with_float {
    ($value:expr, $T:ident => $body:expr) => {
        match $value.kind() {
            $crate::value::Kind::Num => {
                type $T = f64;
                $body
            }
            $crate::value::Kind::Num32 => {
                type $T = f32;
                $body
            }
            _ => unreachable!("operands passed the typing rules: not floating point numbers"),
        }
    };
}

pub(crate) use {with_element, with_float, with_number};
