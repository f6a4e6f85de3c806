//! Losses that grow so fast that training is about to fail.
//!
//! Within an epoch a single loss may be small by chance. So the mean of the last eighth of its losses is
//! compared with the largest of the first ones. Rows without a loss do not count: learning may begin late, or
//! happen at the ends of sequences only. Where an epoch has few rows, growth shows from epoch to epoch.

/// Growth by this factor is reported.
const FACTOR: f64 = 1000.0;

/// Collects the losses of an epoch.
#[derive(Default)]
pub(super) struct Growth {
    losses: Vec<f64>,
}

impl Growth {
    /// Adds the next loss.
    pub fn add(&mut self, loss: f64) {
        self.losses.push(loss);
    }

    /// The losses at the beginning and at the end, if the latter are much larger.
    #[allow(clippy::cast_precision_loss)] // rounding does not matter for a warning
    pub fn found(&self) -> Option<(f64, f64)> {
        let n = self.losses.len();
        let eighth = (n / 8).max(1);
        let n_first = eighth.max((n / 2).min(4));
        if n_first + eighth > n {
            return None;
        }
        let first = self.losses[..n_first].iter().copied().fold(0.0, f64::max);
        let last = self.losses[n - eighth..].iter().sum::<f64>() / eighth as f64;
        is_growth(first, last).then_some((first, last))
    }
}

/// Whether the second loss is so much larger that training is about to fail.
pub(super) fn is_growth(first: f64, last: f64) -> bool {
    first > 0.0 && last > FACTOR * first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(losses: &[f64]) -> Option<(f64, f64)> {
        let mut growth = Growth::default();
        for loss in losses {
            growth.add(*loss);
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
