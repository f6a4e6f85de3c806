//! Equality of outcomes and of terms.

use eddy_rd::operation::Undefined;
use eddy_rd::outcome::Outcome;
use eddy_rd::value::Value;

use crate::harness::{Trial, Verdict};

/// How close two reals have to be.
#[derive(Clone, Copy, Debug)]
pub enum Tolerance {
    /// Equal; `-0` is `0`.
    Exact,
    /// Relative to the largest of 1 and both magnitudes: where terms cancel, the error is that of the terms.
    Relative(f64),
}

impl Tolerance {
    pub fn accepts(self, x: f64, y: f64) -> bool {
        match self {
            Tolerance::Exact => x == y,
            Tolerance::Relative(tolerance) => (x - y).abs() <= tolerance * x.abs().max(y.abs()).max(1.0),
        }
    }

    fn accepts_all(self, left: &[f64], right: &[f64]) -> bool {
        left.len() == right.len() && left.iter().zip(right).all(|(x, y)| self.accepts(*x, *y))
    }
}

/// The tolerance of section 11.
pub const LAWS: Tolerance = Tolerance::Relative(1e-8);

/// The tolerance of section 12.1.
pub const ENGINES: Tolerance = Tolerance::Relative(1e-9);

/// Which parts of reports must be equal if there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reports {
    /// Only whether fuel is the reason.
    Kind,
    /// The whole report.
    Whole,
}

/// Checks that two outcomes are the same; runs that overflow are skipped.
pub fn same(left: &Outcome, right: &Outcome, tolerance: Tolerance, reports: Reports) -> Trial {
    if overflows(left) || overflows(right) {
        return Ok(Verdict::Vacuous("overflow"));
    }
    let agree = match (left, right) {
        (Outcome::Value(left), Outcome::Value(right)) => {
            same_shape(left, right) && tolerance.accepts_all(&left.leaves(), &right.leaves())
        }
        (Outcome::Interval(low, high), Outcome::Interval(other_low, other_high)) => {
            tolerance.accepts_all(&low.leaves(), &other_low.leaves())
                && tolerance.accepts_all(&high.leaves(), &other_high.leaves())
        }
        (Outcome::Undefined(left), Outcome::Undefined(right)) => {
            reports == Reports::Kind || same_report(left, right, tolerance)
        }
        (Outcome::Diverged, Outcome::Diverged) | (Outcome::OutOfMemory, Outcome::OutOfMemory) => true,
        _ => false,
    };
    if agree { Ok(Verdict::Holds) } else { Err(format!("{} is not {}", show(left), show(right))) }
}

/// Like [`same`], but if one outcome overflows, the other must overflow too.
pub fn same_even_in_overflow(left: &Outcome, right: &Outcome, tolerance: Tolerance) -> Trial {
    match (overflows(left), overflows(right)) {
        (true, true) => Ok(Verdict::Holds),
        (false, false) => same(left, right, tolerance, Reports::Whole),
        _ => Err(format!("{} is not {}", show(left), show(right))),
    }
}

pub fn overflows(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Undefined(Undefined::Overflow))
}

fn same_report(left: &Undefined, right: &Undefined, tolerance: Tolerance) -> bool {
    match (left, right) {
        (Undefined::Outside { what, at }, Undefined::Outside { what: other, at: other_at }) => {
            what == other && tolerance.accepts_all(at, other_at)
        }
        _ => left == right,
    }
}

fn same_shape(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Real(_), Value::Real(_)) | (Value::Unit, Value::Unit) => true,
        (Value::Pair(_), Value::Pair(_)) => {
            let ((a, b), (c, d)) = (left.halves(), right.halves());
            same_shape(a, c) && same_shape(b, d)
        }
        _ => false,
    }
}

/// An outcome in one line.
pub fn show(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Value(value) => value.to_string(),
        Outcome::Interval(low, high) => format!("from {low} to {high}"),
        Outcome::Undefined(undefined) => format!("undefined: {undefined}"),
        Outcome::Diverged => "out of fuel".to_string(),
        Outcome::OutOfMemory => "out of memory".to_string(),
    }
}
