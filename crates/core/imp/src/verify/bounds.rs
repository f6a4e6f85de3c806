//! Finds indices that are certainly out of range.
//!
//! The range of an index follows from enclosing loops that count between two literals; nothing is concluded
//! for an index that depends on anything else.

use rustc_hash::FxHashMap;

use crate::expr::{Binary, Expr};
use crate::name::Name;
use crate::stmt::Loop;

/// The smallest and the largest value.
type Range = (i64, i64);

/// The ranges of the indices of open loops, innermost last; `None` if unknown.
#[derive(Default)]
pub(super) struct Ranges {
    known: FxHashMap<Name, Vec<Option<Range>>>,
}

impl Ranges {
    pub fn enter(&mut self, this: &Loop) {
        let range = this.n_iterations().filter(|n| *n > 0).and_then(|n| match this.first {
            Expr::Count(first) => Some((first, first + i64::try_from(n).ok()? - 1)),
            _ => None,
        });
        self.known.entry(this.index.clone()).or_default().push(range);
    }

    pub fn leave(&mut self, this: &Loop) {
        if let Some(ranges) = self.known.get_mut(&this.index) {
            ranges.pop();
        }
    }

    /// A variable with the name of an index hides it.
    pub fn forget(&mut self, name: &Name) {
        if let Some(range) = self.known.get_mut(name).and_then(|ranges| ranges.last_mut()) {
            *range = None;
        }
    }

    /// Checks an index whose range is known.
    pub fn check(&self, index: &Expr, size: usize) -> Result<(), String> {
        let Some((low, high)) = self.of(index) else { return Ok(()) };
        // Memory has at least one element.
        let size = i64::try_from(size.max(1)).unwrap_or(i64::MAX);
        if low >= 0 && high < size {
            return Ok(());
        }
        Err(format!("`{index}` is between {low} and {high}, and there are {size} places"))
    }

    fn of(&self, expr: &Expr) -> Option<Range> {
        match expr {
            Expr::Count(n) => Some((*n, *n)),
            Expr::Var(name) => *self.known.get(name)?.last()?,
            Expr::Cast(ty, operand) if ty.is_count() => self.of(operand),
            Expr::Binary(op, operands) => {
                let ((a, b), (c, d)) = (self.of(&operands[0])?, self.of(&operands[1])?);
                match op {
                    Binary::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
                    Binary::Sub => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
                    Binary::Mul => {
                        let products =
                            [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
                        Some((*products.iter().min()?, *products.iter().max()?))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
