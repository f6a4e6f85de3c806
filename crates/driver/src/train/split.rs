//! Divides data into those to learn from and those for validation: `--split`, `--split-by`.
//!
//! Samples and sequences are drawn by the seed, and stay whole. Rows that depend on the rows before keep
//! their order: the first ones are learnt from.

use std::collections::BTreeMap;

use eddy_tensor::init::SplitMix64;

use super::dataset::Unit;

/// How data are divided.
#[derive(Clone, Debug, PartialEq)]
pub enum Split {
    /// This part of the samples or sequences is learnt from.
    Fraction(f64),
    /// This part of the values of a column: rows with the same value stay together.
    Groups {
        /// The column.
        column: String,
        /// The part of its values that is learnt from.
        fraction: f64,
    },
    /// Rows whose column has this value are for validation.
    Value {
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
}

impl Split {
    /// The column that the split reads.
    pub fn column(&self) -> Option<&str> {
        match self {
            Split::Fraction(_) => None,
            Split::Groups { column, .. } | Split::Value { column, .. } => Some(column),
        }
    }

    /// Whether each unit is learnt from. `labels` has the texts of the column at each row, `units` the rows
    /// of each unit.
    pub(super) fn chosen(
        &self,
        unit: Unit,
        units: &[std::ops::Range<usize>],
        labels: &[Option<String>],
        seed: u64,
    ) -> Result<Vec<bool>, String> {
        let chosen = match self {
            Split::Fraction(fraction) => drawn(units.len(), *fraction, unit, seed),
            Split::Groups { fraction, .. } => {
                let labels = self.labels(units, labels)?;
                let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
                for label in &labels {
                    let n = numbers.len();
                    numbers.entry(label).or_insert(n);
                }
                let groups = drawn(numbers.len(), *fraction, unit, seed);
                labels.iter().map(|label| groups[numbers[label]]).collect()
            }
            Split::Value { value, .. } => {
                self.labels(units, labels)?.iter().map(|label| label != value).collect()
            }
        };
        let n_chosen = chosen.iter().filter(|is_chosen| **is_chosen).count();
        if n_chosen == 0 || n_chosen == chosen.len() {
            let empty = if n_chosen == 0 { "to learn from" } else { "for validation" };
            return Err(format!("no data are left {empty}"));
        }
        let is_mixed = chosen.windows(2).filter(|pair| pair[0] != pair[1]).count() > 1;
        if unit == Unit::Whole && is_mixed {
            return Err(
                "each row depends on the one before, and the rows of the two parts are mixed".to_string()
            );
        }
        Ok(chosen)
    }

    /// The value of the column in each unit.
    fn labels<'a>(
        &self,
        units: &[std::ops::Range<usize>],
        labels: &'a [Option<String>],
    ) -> Result<Vec<&'a str>, String> {
        let column = self.column().unwrap_or_default();
        let label = |unit: &std::ops::Range<usize>| {
            let first = &labels[unit.start];
            let Some(first) = first else {
                return Err(format!("row {} has nothing in the column `{column}`", unit.start + 1));
            };
            match unit.clone().find(|row| labels[*row].as_ref() != Some(first)) {
                Some(row) => Err(format!(
                    "the sequence that begins at row {} has two values in the column `{column}`: the other at row {}",
                    unit.start + 1,
                    row + 1
                )),
                None => Ok(first.as_str()),
            }
        };
        units.iter().map(label).collect()
    }
}

/// Draws a part of `n`; of rows in their order, the first ones.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it is below n
fn drawn(n: usize, fraction: f64, unit: Unit, seed: u64) -> Vec<bool> {
    let n_chosen = ((n as f64 * fraction).round() as usize).clamp(usize::from(n > 1), n.saturating_sub(1));
    let mut order: Vec<usize> = (0..n).collect();
    if unit != Unit::Whole {
        let mut random = SplitMix64::new("split", seed);
        super::dataset::shuffle(&mut order, &mut random);
    }
    let mut chosen = vec![false; n];
    order[..n_chosen].iter().for_each(|number| chosen[*number] = true);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize) -> Vec<std::ops::Range<usize>> {
        (0..n).map(|row| row..row + 1).collect()
    }

    fn count(chosen: &[bool]) -> usize {
        chosen.iter().filter(|is_chosen| **is_chosen).count()
    }

    #[test]
    fn samples_are_drawn_and_time_is_cut() {
        let split = Split::Fraction(0.8);
        let drawn = split.chosen(Unit::Row, &rows(50), &[], 1).expect("both parts have rows");
        assert_eq!(count(&drawn), 40);
        assert_ne!(Ok(drawn), split.chosen(Unit::Row, &rows(50), &[], 2));
        let cut = split.chosen(Unit::Whole, &rows(5), &[], 1).expect("both parts have rows");
        assert_eq!(cut, [true, true, true, true, false]);
        assert!(split.chosen(Unit::Row, &rows(1), &[], 1).is_err());
    }

    #[test]
    fn groups_stay_together() {
        let labels: Vec<Option<String>> = (0..40).map(|row| Some(format!("{}", row % 4))).collect();
        let split = Split::Groups { column: "g".to_string(), fraction: 0.5 };
        let chosen = split.chosen(Unit::Row, &rows(40), &labels, 3).expect("both parts have rows");
        assert_eq!(count(&chosen), 20);
        assert!((0..40).all(|row| chosen[row] == chosen[row % 4]));
        let whole: Vec<_> = std::iter::once(0..2).collect();
        assert!(split.chosen(Unit::Sequence, &whole, &labels, 3).is_err());
    }

    #[test]
    fn a_value_chooses_rows_and_must_not_mix_time() {
        let labels: Vec<Option<String>> = ["a", "b", "a"].map(|text| Some(text.to_string())).to_vec();
        let split = Split::Value { column: "g".to_string(), value: "b".to_string() };
        assert_eq!(split.chosen(Unit::Row, &rows(3), &labels, 0), Ok(vec![true, false, true]));
        assert!(split.chosen(Unit::Whole, &rows(3), &labels, 0).is_err());
        let none = Split::Value { column: "g".to_string(), value: "c".to_string() };
        assert_eq!(
            none.chosen(Unit::Row, &rows(3), &labels, 0),
            Err("no data are left for validation".to_string())
        );
    }
}
