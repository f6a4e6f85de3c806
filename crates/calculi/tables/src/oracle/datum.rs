//! The values that compilers compute with, and functions as finite tables over them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;

use super::{Outcome, Reason};

/// A base value, or a finite table in the place of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    Int(i64),
    Bool(bool),
    Real(f64),
    /// A tensor: its shape, and its elements in row-major order.
    Tensor(Vec<usize>, Vec<f64>),
    Tuple(Vec<Datum>),
    /// A function that is given as an input.
    Function(Rc<FiniteTable>),
}

/// A function with finitely many inputs that records its lookups.
#[derive(Debug, Default)]
pub struct FiniteTable {
    /// Inputs and outputs; the first entry for an input counts.
    pub entries: Vec<(Datum, Datum)>,
    asked: RefCell<BTreeSet<usize>>,
}

impl PartialEq for FiniteTable {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl FiniteTable {
    /// A table of these entries.
    pub fn new(entries: Vec<(Datum, Datum)>) -> Self {
        FiniteTable { entries, asked: RefCell::default() }
    }

    /// The output for an input; undefined outside of the table. Reals are rounded to single precision and
    /// then looked up exactly: if keys had a tolerance, a larger table could give fewer outputs.
    pub fn call(&self, input: &Datum) -> Outcome {
        match self.entries.iter().position(|(known, _)| is_same_key(known, input)) {
            Some(at) => {
                self.asked.borrow_mut().insert(at);
                Outcome::Value(self.entries[at].1.clone())
            }
            None => Outcome::Undefined(Reason::Outside),
        }
    }

    /// The entries that were looked up so far: the demanded part of the table.
    #[must_use]
    pub fn demanded(&self) -> FiniteTable {
        let asked = self.asked.borrow();
        FiniteTable::new(asked.iter().map(|at| self.entries[*at].clone()).collect())
    }
}

fn is_same_key(a: &Datum, b: &Datum) -> bool {
    #[allow(clippy::cast_possible_truncation)] // rounding is intended
    let is_same = |a: &f64, b: &f64| (*a as f32).to_bits() == (*b as f32).to_bits() || a == b;
    match (a, b) {
        (Datum::Real(a), Datum::Real(b)) => is_same(a, b),
        (Datum::Tensor(shape, a), Datum::Tensor(other, b)) => {
            shape == other && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Datum::Tuple(a), Datum::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_key(a, b))
        }
        _ => a == b,
    }
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, items: &[Datum]| {
            items
                .iter()
                .enumerate()
                .try_for_each(|(i, item)| write!(f, "{}{item}", if i == 0 { "" } else { ", " }))
        };
        match self {
            Datum::Int(n) => write!(f, "{n}"),
            Datum::Bool(truth) => write!(f, "{truth}"),
            Datum::Real(x) => write!(f, "{x:?}"),
            Datum::Tensor(shape, elements) => write!(f, "tensor {shape:?} {elements:?}"),
            Datum::Tuple(items) => {
                f.write_str("(")?;
                list(f, items)?;
                f.write_str(")")
            }
            Datum::Function(table) => {
                f.write_str("{")?;
                for (i, (input, output)) in table.entries.iter().enumerate() {
                    write!(f, "{}{input} -> {output}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
        }
    }
}
