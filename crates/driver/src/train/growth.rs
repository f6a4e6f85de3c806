//! Losses that grow so fast within an epoch that training is about to fail.
//!
//! A single loss may be small by chance. So the mean of the last eighth of an epoch is compared with the
//! largest loss of its beginning.

/// Growth by this factor is reported.
const FACTOR: f64 = 1000.0;

/// Collects the losses of an epoch.
pub(super) struct Growth {
    n_first: usize,
    n_before_last: usize,
    largest_first: f64,
    sum_last: f64,
    n_last: usize,
}

impl Growth {
    /// An epoch of `n_rows` rows.
    pub fn new(n_rows: usize) -> Growth {
        let eighth = (n_rows / 8).max(1);
        Growth {
            n_first: eighth.max((n_rows / 2).min(4)),
            n_before_last: n_rows.saturating_sub(eighth),
            largest_first: 0.0,
            sum_last: 0.0,
            n_last: 0,
        }
    }

    /// Adds the loss of a row.
    pub fn add(&mut self, row: usize, loss: f64) {
        if row < self.n_first {
            self.largest_first = self.largest_first.max(loss);
        } else if row >= self.n_before_last {
            self.sum_last += loss;
            self.n_last += 1;
        }
    }

    /// The losses at the beginning and at the end, if the latter are much larger.
    #[allow(clippy::cast_precision_loss)] // rounding does not matter for a warning
    pub fn found(&self) -> Option<(f64, f64)> {
        let last = self.sum_last / self.n_last.max(1) as f64;
        (self.largest_first > 0.0 && last > FACTOR * self.largest_first).then_some((self.largest_first, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(losses: &[f64]) -> Option<(f64, f64)> {
        let mut growth = Growth::new(losses.len());
        for (row, loss) in losses.iter().enumerate() {
            growth.add(row, *loss);
        }
        growth.found()
    }

    #[test]
    fn the_mean_of_the_last_eighth_is_compared_with_the_largest_of_the_first_rows() {
        let mut losses = [1.0; 16];
        assert_eq!(found(&losses), None);
        (losses[14], losses[15]) = (1001.0, 1001.0);
        assert_eq!(found(&losses), Some((1.0, 1001.0)));
        // One large loss is not enough, nor is a small one at the beginning.
        losses[14] = 0.0;
        assert_eq!(found(&losses), None);
        (losses[14], losses[1]) = (1001.0, 2.0);
        assert_eq!(found(&losses), None);
    }

    #[test]
    fn short_epochs_have_a_beginning_and_an_end() {
        assert_eq!(found(&[1.0, 2000.0]), Some((1.0, 2000.0)));
        assert_eq!(found(&[2000.0]), None);
        assert_eq!(found(&[]), None);
    }
}
