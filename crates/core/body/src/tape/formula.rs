//! Sums of products of sizes, as in `8 * n * k + 16`.

use std::collections::BTreeMap;
use std::fmt;

/// A polynomial over named sizes. An unknown size is `_`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Formula {
    /// Coefficients by the sizes of a product, in order and without zeros.
    terms: BTreeMap<Vec<String>, i128>,
}

impl Formula {
    /// A number.
    pub fn constant(n: i128) -> Formula {
        Formula::term(Vec::new(), n)
    }

    /// A size with a name.
    pub fn named(name: &str) -> Formula {
        Formula::term(vec![name.to_string()], 1)
    }

    /// An unknown size.
    pub fn unknown() -> Formula {
        Formula::named("_")
    }

    fn term(sizes: Vec<String>, coefficient: i128) -> Formula {
        let mut formula = Formula::default();
        formula.insert(sizes, coefficient);
        formula
    }

    fn insert(&mut self, sizes: Vec<String>, coefficient: i128) {
        let sum = self.terms.get(&sizes).copied().unwrap_or(0).saturating_add(coefficient);
        if sum == 0 {
            self.terms.remove(&sizes);
        } else {
            self.terms.insert(sizes, sum);
        }
    }

    /// The value, if the formula has no sizes.
    pub fn as_constant(&self) -> Option<i128> {
        match self.terms.iter().next() {
            None => Some(0),
            Some((sizes, n)) if sizes.is_empty() && self.terms.len() == 1 => Some(*n),
            Some(_) => None,
        }
    }

    /// The quotient, rounded down.
    #[must_use]
    pub fn divided(&self, by: i128) -> Formula {
        match self.as_constant() {
            Some(n) => Formula::constant(n.div_euclid(by)),
            None if self.terms.len() == 1 => Formula::named(&format!("({self} div {by})")),
            None => Formula::named(&format!("(({self}) div {by})")),
        }
    }

    /// The part of one iteration, if `by` iterations share the whole.
    #[must_use]
    pub fn divided_by_iterations(&self, by: i128) -> Formula {
        if self.terms.len() == 1 {
            return Formula::named(&format!("{self} / {by}"));
        }
        Formula::named(&format!("({self}) / {by}"))
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Formula) -> Formula {
        let mut sum = self.clone();
        for (sizes, coefficient) in &other.terms {
            sum.insert(sizes.clone(), *coefficient);
        }
        sum
    }

    /// The difference.
    #[must_use]
    pub fn minus(&self, other: &Formula) -> Formula {
        self.plus(&other.times(&Formula::constant(-1)))
    }

    /// The product.
    #[must_use]
    pub fn times(&self, other: &Formula) -> Formula {
        let mut product = Formula::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut sizes = [left.as_slice(), right].concat();
                sizes.sort_unstable();
                product.insert(sizes, a.saturating_mul(*b));
            }
        }
        product
    }
}

/// Products of most sizes first, sums before differences.
impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        let mut terms: Vec<(&Vec<String>, &i128)> = self.terms.iter().collect();
        terms.sort_by_key(|(sizes, coefficient)| (std::cmp::Reverse(sizes.len()), **coefficient < 0));
        for (number, (sizes, coefficient)) in terms.into_iter().enumerate() {
            match (number, *coefficient < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            let size = coefficient.unsigned_abs();
            let mut factors = Vec::new();
            if size != 1 || sizes.is_empty() {
                factors.push(size.to_string());
            }
            factors.extend(sizes.iter().cloned());
            f.write_str(&factors.join(" * "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_multiplied_out() {
        let (n, k) = (Formula::named("n"), Formula::named("k"));
        let rows = n.minus(&k).plus(&Formula::constant(1));
        assert_eq!(rows.times(&Formula::constant(8)).times(&n).to_string(), "8 * n * n - 8 * k * n + 8 * n");
        assert_eq!(n.minus(&n).to_string(), "0");
    }
}
