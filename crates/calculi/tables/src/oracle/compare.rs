//! Agreement of outputs: exact, up to a reassociation of sums, or within stated bounds.

use super::{Datum, Outcome, Reason};

/// How far a rewrite may change reals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Not at all: the bits are equal, except those of NaN.
    Exact,
    /// By at most the error of another order of summation.
    Reassociated {
        /// The number of terms of the longest reduction.
        terms: u32,
    },
    /// |a−b| ≤ atol + rtol·max(|a|,|b|).
    Within { atol: f64, rtol: f64 },
}

impl Tolerance {
    /// Whether two reals agree. NaN agrees with NaN, infinities need equal signs, and +0 and −0 agree unless
    /// bits count.
    pub fn reals(self, a: f64, b: f64) -> bool {
        let (atol, rtol) = match self {
            Tolerance::Exact => return a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            // 8·n·2⁻⁵²
            Tolerance::Reassociated { terms } => (0.0, 8.0 * f64::from(terms) * f64::EPSILON),
            Tolerance::Within { atol, rtol } => (atol, rtol),
        };
        if !a.is_finite() || !b.is_finite() {
            return a == b || (a.is_nan() && b.is_nan());
        }
        (a - b).abs() <= atol + rtol * a.abs().max(b.abs())
    }

    /// Whether two values agree. Integers, truth values and shapes are always exact.
    pub fn values(self, a: &Datum, b: &Datum) -> bool {
        match (a, b) {
            (Datum::Real(a), Datum::Real(b)) => self.reals(*a, *b),
            (Datum::Tensor(shape, a), Datum::Tensor(other, b)) => {
                shape == other && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.reals(*a, *b))
            }
            (Datum::Tuple(a), Datum::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.values(a, b))
            }
            _ => a == b,
        }
    }
}

/// Whether two outcomes agree; `None` if one of them ran out of fuel. All reasons for undefined outcomes are
/// equal.
pub fn outcomes(a: &Outcome, b: &Outcome, tolerance: Tolerance) -> Option<bool> {
    match (a, b) {
        (Outcome::Undefined(Reason::Fuel), _) | (_, Outcome::Undefined(Reason::Fuel)) => None,
        (Outcome::Undefined(_), Outcome::Undefined(_)) => Some(true),
        (Outcome::Value(a), Outcome::Value(b)) => Some(tolerance.values(a, b)),
        _ => Some(false),
    }
}
