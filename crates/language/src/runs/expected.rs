//! Compares a run with the cells that its bench expects: `run f { x: 1 2; expect o: 2 3; }`.
//!
//! An absent cell must be absent, an unknown one unknown. Truth values and integers must be equal; numbers
//! may differ by a tolerance, relative to the larger of both and to 1, since a decimal number in the text is
//! rarely the one that was computed.

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Value;

use crate::codes;
use crate::semantics::Cell;

/// The default for the largest difference of numbers.
pub const TOLERANCE: f64 = 1e-9;

/// The result of a bench with expected cells.
#[derive(Clone, Debug)]
pub struct Tested {
    /// The node that ran.
    pub node: String,
    /// The place of the bench.
    pub span: Span,
    /// The number of cells that were compared.
    pub n_cells: usize,
    /// The differences, one for each stream at most.
    pub failures: Vec<Diagnostic>,
}

/// The cells that a stream must have.
pub(super) struct Expected {
    pub name: String,
    pub span: Span,
    pub cells: Vec<(Cell, Span)>,
}

impl Expected {
    /// The first difference from the cells that the run has.
    pub fn difference(&self, found: &[Cell], tolerance: f64) -> Option<Diagnostic> {
        let name = &self.name;
        if self.cells.len() != found.len() {
            let title = format!(
                "{} are expected of `{name}`, and the run has {}",
                counted(self.cells.len(), "cell"),
                counted(found.len(), "cycle")
            );
            return Some(Diagnostic::error(codes::EXPECTATION, self.span, title));
        }
        let is_different = |(expected, found): (&Cell, &Cell)| !is_equal(expected, found, tolerance);
        let mut pairs = self.cells.iter().zip(found).map(|((cell, _), found)| (cell, found));
        let cycle = pairs.position(is_different)?;
        let (expected, span) = &self.cells[cycle];
        let title = format!("`{name}` is {} at cycle {cycle}, not {}", shown(&found[cycle]), shown(expected));
        let n_more = pairs.filter(|pair| is_different(*pair)).count();
        let diagnostic = Diagnostic::error(codes::EXPECTATION, *span, title);
        Some(match n_more {
            0 => diagnostic,
            n => diagnostic.reason(format!(
                "{} after it {} too",
                counted(n, "cell"),
                if n == 1 { "differs" } else { "differ" }
            )),
        })
    }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Absent => "absent".to_string(),
        Cell::Value(value) => value.to_string(),
        Cell::Error => "an error".to_string(),
        Cell::Unknown | Cell::Present => "unknown".to_string(),
    }
}

fn is_equal(expected: &Cell, found: &Cell, tolerance: f64) -> bool {
    match (expected, found) {
        (Cell::Value(expected), Cell::Value(found)) => {
            expected.shape() == found.shape()
                && expected.elements().zip(found.elements()).all(|(a, b)| is_close(&a, &b, tolerance))
        }
        (Cell::Unknown, Cell::Unknown | Cell::Present) => true,
        _ => expected == found,
    }
}

fn is_close(expected: &Value, found: &Value, tolerance: f64) -> bool {
    match (expected, found) {
        (Value::Num(a), Value::Num(b)) => {
            // Infinities are equal, and so are NaNs: there is no other way to expect one.
            let is_near = || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0);
            a == b || a.is_nan() && b.is_nan() || a.is_finite() && b.is_finite() && is_near()
        }
        _ => expected == found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_differ_by_rounding_and_integers_not_at_all() {
        let num = |x: f64| Cell::Value(Value::Num(x));
        assert!(is_equal(&num(0.3), &num(0.1 + 0.2), TOLERANCE));
        assert!(!is_equal(&num(0.3), &num(0.300_001), TOLERANCE));
        assert!(is_equal(&num(f64::NAN), &num(f64::NAN), 0.0) && is_equal(&num(1e300), &num(1e300), 0.0));
        assert!(!is_equal(&num(f64::INFINITY), &num(1e308), 0.5));
        assert!(!is_equal(&Cell::Value(Value::Int(1)), &Cell::Value(Value::Int(2)), 10.0));
        assert!(!is_equal(&Cell::Absent, &Cell::Unknown, 1.0) && is_equal(&Cell::Absent, &Cell::Absent, 0.0));
    }
}
