//! What is known about integers when code is emitted: intervals, equal sizes, indices that are in range.
//!
//! A check is omitted only where these facts prove that it holds. Facts about a region end with the region.

use eddy_body::Var;
use rustc_hash::FxHashMap;

use super::body::int_literal;

/// The smallest and the largest value; intermediate values may exceed 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub lo: i128,
    pub hi: i128,
}

impl Interval {
    pub const ALL: Interval = Interval { lo: i64::MIN as i128, hi: i64::MAX as i128 };
    /// The largest tensor has this many elements. No axis is longer, not even in an empty tensor.
    pub const SIZE: Interval = Interval { lo: 0, hi: 1 << 28 };

    pub fn of(value: i64) -> Interval {
        Interval { lo: i128::from(value), hi: i128::from(value) }
    }

    /// The only possible value, if there is only one.
    pub fn single(self) -> Option<i64> {
        i64::try_from(self.lo).ok().filter(|_| self.lo == self.hi)
    }

    pub fn fits(self) -> bool {
        self.lo >= Interval::ALL.lo && self.hi <= Interval::ALL.hi
    }

    /// The interval after values beyond 64 bits have failed.
    pub fn clamped(self) -> Interval {
        Interval { lo: self.lo.max(Interval::ALL.lo), hi: self.hi.min(Interval::ALL.hi) }
    }

    /// The smallest interval that contains both.
    pub fn or(self, other: Interval) -> Interval {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    pub fn plus(self, other: Interval) -> Interval {
        Interval { lo: self.lo + other.lo, hi: self.hi + other.hi }
    }

    pub fn minus(self, other: Interval) -> Interval {
        Interval { lo: self.lo - other.hi, hi: self.hi - other.lo }
    }

    pub fn times(self, other: Interval) -> Interval {
        let products = [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        Interval {
            lo: products.into_iter().min().expect("there are four"),
            hi: products.into_iter().max().expect("there are four"),
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct Facts {
    intervals: FxHashMap<Var, Interval>,
    /// For each tensor, the interval of its elements.
    elements: FxHashMap<Var, Interval>,
    /// Known truth values.
    truths: FxHashMap<Var, bool>,
    /// Indices that are at least 0 and below this size.
    below: FxHashMap<Var, String>,
    /// Sizes that are equal to another one.
    same: FxHashMap<String, String>,
    /// Maps the size of an axis to a count. They are equal, unless an earlier axis of the tensor is empty, or
    /// the size is 0 because the count is negative.
    at_most: FxHashMap<String, String>,
    /// What holds in a branch of later choices with the same condition: condition and branch.
    guarded: Vec<(Var, usize, Guarded)>,
}

/// A fact about the result of a choice.
#[derive(Clone)]
pub(super) enum Guarded {
    /// Two sizes are equal.
    Size(String, String),
    /// An integer is in an interval.
    Interval(Var, Interval),
}

impl Facts {
    pub fn interval(&self, var: Var) -> Interval {
        self.intervals.get(&var).copied().unwrap_or(Interval::ALL)
    }

    pub fn set_interval(&mut self, var: Var, interval: Interval) {
        self.intervals.insert(var, interval.clamped());
    }

    pub fn set_below(&mut self, var: Var, size: &str) {
        self.below.insert(var, size.to_owned());
    }

    pub fn below(&self, var: Var) -> Option<&str> {
        self.below.get(&var).map(String::as_str)
    }

    pub fn set_at_most(&mut self, size: &str, bound: &str) {
        self.at_most.insert(size.to_owned(), bound.to_owned());
    }

    /// The size of an axis of a tensor whose first axis is not empty.
    pub fn of_some(&self, size: &str) -> String {
        let known =
            self.at_most.get(size).filter(|known| self.literal(known).is_some_and(|known| known >= 0));
        known.map_or_else(|| size.to_owned(), |known| self.canonical(known))
    }

    /// The interval of the elements of a tensor.
    pub fn elements(&self, var: Var) -> Interval {
        self.elements.get(&var).copied().unwrap_or(Interval::ALL)
    }

    pub fn set_elements(&mut self, var: Var, interval: Interval) {
        self.elements.insert(var, interval);
    }

    pub fn truth(&self, var: Var) -> Option<bool> {
        self.truths.get(&var).copied()
    }

    pub fn set_truth(&mut self, var: Var, truth: bool) {
        self.truths.insert(var, truth);
    }

    /// Records what holds where this branch (0 or 1) of a choice with this condition is taken.
    pub fn guard(&mut self, condition: Var, branch: usize, fact: Guarded) {
        self.guarded.push((condition, branch, fact));
    }

    /// Adds the facts of a branch.
    pub fn assume(&mut self, condition: Var, branch: usize) {
        self.set_truth(condition, branch == 0);
        let facts: Vec<Guarded> = self
            .guarded
            .iter()
            .filter(|(known, taken, _)| *known == condition && *taken == branch)
            .map(|(_, _, fact)| fact.clone())
            .collect();
        for fact in facts {
            match fact {
                Guarded::Size(x, y) => self.set_same(&x, &y),
                Guarded::Interval(var, interval) => self.set_interval(var, interval),
            }
        }
    }

    /// The value of a size, if it is known.
    pub fn literal(&self, size: &str) -> Option<i64> {
        literal(self.root(size))
    }

    /// The text of a size; a literal if its value is known.
    pub fn canonical(&self, size: &str) -> String {
        self.literal(size).map_or_else(|| size.to_owned(), int_literal)
    }

    /// The number of elements, if all sizes are known and the tensor is not too large.
    pub fn literal_elements(&self, sizes: &[String]) -> Option<i64> {
        let (mut all, mut bound): (i64, i64) = (1, 1);
        for size in sizes {
            let size = self.literal(size).filter(|size| (0..=MAX_ELEMENTS).contains(size))?;
            all *= size;
            // An axis of size 0 counts as 1 for the limit.
            bound *= size.max(1);
            if bound > MAX_ELEMENTS {
                return None;
            }
        }
        Some(all)
    }

    pub fn set_same(&mut self, x: &str, y: &str) {
        let (x, y) = (self.root(x).to_owned(), self.root(y).to_owned());
        if x != y {
            // The representative of equal sizes is a literal if there is one.
            let (from, to) = if literal(&x).is_some() { (y, x) } else { (x, y) };
            self.same.insert(from, to);
        }
    }

    fn root<'a>(&'a self, mut size: &'a str) -> &'a str {
        while let Some(other) = self.same.get(size) {
            size = other;
        }
        size
    }

    pub fn are_same(&self, x: &str, y: &str) -> bool {
        self.root(x) == self.root(y)
    }

    pub fn all_same(&self, x: &[String], y: &[String]) -> bool {
        x.len() == y.len() && x.iter().zip(y).all(|(x, y)| self.are_same(x, y))
    }

    /// Whether an index is certainly in range of an axis, if the indices of the earlier axes are.
    pub fn is_in_range(&self, index: Var, size: &str) -> bool {
        if let Some(bound) = self.below(index) {
            let also = self.at_most.get(size).map_or(size, String::as_str);
            if self.are_same(bound, size) || self.are_same(bound, also) {
                return true;
            }
        }
        let interval = self.interval(index);
        self.literal(size).is_some_and(|size| interval.lo >= 0 && interval.hi < i128::from(size))
    }
}

/// The largest number of elements of a tensor.
const MAX_ELEMENTS: i64 = 1 << 28;

/// The inverse of `int_literal`.
pub(super) fn literal(text: &str) -> Option<i64> {
    text.strip_prefix("INT64_C(")?.strip_suffix(')')?.parse().ok()
}
