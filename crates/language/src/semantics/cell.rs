//! The content of a stream at one cycle (sections 6 and 7).

use std::fmt;

use eddy_tensor::Value;

/// The content of a cell: how much is known about a stream at a cycle.
///
/// Cells are ordered by knowledge: from unknown (⊥) to absent (□) or present (?), from present to a value,
/// and from each of these to a contradiction (✗).
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// ⊥: not known yet.
    Unknown,
    /// □: the stream has no value at this cycle.
    Absent,
    /// ?: the stream has a value, which is not known yet.
    Present,
    Value(Value),
    /// ✗: two contradictory facts.
    Error,
}

impl Cell {
    /// Whether it can only change to an error.
    pub fn is_final(&self) -> bool {
        !matches!(self, Cell::Unknown | Cell::Present)
    }

    /// Whether the stream is known to be present.
    pub fn is_present(&self) -> bool {
        matches!(self, Cell::Present | Cell::Value(_))
    }

    pub fn value(&self) -> Option<&Value> {
        match self {
            Cell::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The value, if it is a Boolean.
    pub fn truth(&self) -> Option<bool> {
        self.value().and_then(Value::as_bool)
    }

    /// Joins `other` into this cell; returns whether the cell changed.
    #[inline]
    pub fn join(&mut self, other: &Cell) -> bool {
        // The most frequent joins change nothing: presence into a present cell, absence into an absent one.
        match (&*self, other) {
            (Cell::Present | Cell::Value(_), Cell::Present) | (Cell::Absent, Cell::Absent) => false,
            _ => self.learn(other),
        }
    }

    fn learn(&mut self, other: &Cell) -> bool {
        let joined = match (&*self, other) {
            (_, Cell::Unknown) | (Cell::Error, _) => return false,
            (Cell::Unknown, other) => other.clone(),
            (Cell::Absent, Cell::Absent) | (Cell::Present | Cell::Value(_), Cell::Present) => return false,
            (Cell::Present, Cell::Value(value)) => Cell::Value(value.clone()),
            (Cell::Value(known), Cell::Value(value)) if known == value => return false,
            _ => Cell::Error,
        };
        *self = joined;
        true
    }
}

/// The form in tables: `.`, `⊥`, `?`, `✗`, or the value.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Unknown => f.write_str("⊥"),
            Cell::Absent => f.write_str("."),
            Cell::Present => f.write_str("?"),
            Cell::Value(value) => write!(f, "{value}"),
            Cell::Error => f.write_str("✗"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(left: Cell, right: Cell, joined: Cell) {
        for (mut into, other) in [(left.clone(), right.clone()), (right, left)] {
            into.join(&other);
            assert_eq!(into, joined);
        }
    }

    #[test]
    fn join_is_the_least_upper_bound() {
        let one = || Cell::Value(Value::Num(1.0));
        check(Cell::Unknown, Cell::Absent, Cell::Absent);
        check(Cell::Unknown, one(), one());
        check(Cell::Present, one(), one());
        check(one(), one(), one());
        check(Cell::Absent, Cell::Present, Cell::Error);
        check(Cell::Absent, one(), Cell::Error);
        check(one(), Cell::Value(Value::Num(2.0)), Cell::Error);
        check(Cell::Error, Cell::Unknown, Cell::Error);
    }

    #[test]
    fn a_cell_is_as_small_as_a_value() {
        assert_eq!(size_of::<Cell>(), size_of::<Value>());
    }
}
