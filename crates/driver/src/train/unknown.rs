//! Rows whose loss is unknown, and whether training may ignore them (section 11 of the specification of
//! composition).
//!
//! In a node that looks z rows ahead, the last z losses are unknown. If conditions interrupt the chain of
//! dependencies, the losses after the last interruption are unknown. Such rows are counted and reported. In
//! all other cases nothing would be learnt from the rows, so training is refused, and the message names the
//! stream that waits.

use eddy_language::causality::Verdict;
use eddy_syntax::Diagnostic;

use super::waits::Wait;

/// The rows of a pass without a known loss.
#[derive(Clone, Debug, Default)]
pub(super) struct Unknown {
    /// Rows that should have a loss, and those whose loss is unknown; in a batch each stream counts.
    pub n_losses: usize,
    pub n_unknown: usize,
    /// The first row without a known loss, from 0.
    pub first: Option<usize>,
    n_rows: usize,
    /// The number of active rows up to the first unknown loss, and of all active rows.
    first_activation: usize,
    n_activations: usize,
    /// Whether a known loss came after an unknown one.
    is_interrupted: bool,
}

impl Unknown {
    /// Adds a row.
    pub fn row(&mut self, is_active: bool) {
        self.n_rows += 1;
        self.n_activations += usize::from(is_active);
    }

    /// The loss of the row is known.
    pub fn known(&mut self, n_streams: usize) {
        self.n_losses += n_streams;
        self.is_interrupted |= self.first.is_some();
    }

    /// The row has an unknown loss.
    pub fn unknown(&mut self, n_streams: usize) {
        self.n_losses += n_streams;
        self.n_unknown += n_streams;
        if self.first.is_none() {
            self.first = Some(self.n_rows - 1);
            self.first_activation = self.n_activations.saturating_sub(1);
        }
    }

    /// Whether training may ignore the unknown rows. `has_state` says that the whole learnt state is known
    /// after some row of this pass.
    pub fn is_harmless(&self, verdict: Option<&Verdict>, has_state: bool) -> bool {
        let is_explained = match verdict {
            _ if self.n_unknown == 0 => return true,
            Some(Verdict::LookAhead(z)) => self.first_activation + z >= self.n_activations,
            // After the last interruption of the chain, no loss is known.
            _ => !self.is_interrupted && has_state,
        };
        is_explained && 2 * self.n_unknown <= self.n_losses
    }

    /// `1 of 4 rows have no known loss`.
    pub fn count(&self) -> String {
        format!("{} of {} rows have no known loss", self.n_unknown, self.n_losses)
    }

    /// Why the last rows have no known loss.
    pub fn why(&self, verdict: Option<&Verdict>) -> Option<String> {
        if self.n_unknown == 0 {
            return None;
        }
        Some(match verdict {
            Some(Verdict::LookAhead(z)) => {
                format!("the node looks {z} row{} ahead", if *z == 1 { "" } else { "s" })
            }
            Some(Verdict::NextActivation) => {
                "they wait for the next activation of a sampled stream".to_string()
            }
            Some(guarded @ Verdict::Guarded { .. }) => {
                let guards = guarded.to_string();
                let guards = guards.trim_start_matches("look-ahead guarded").trim_start_matches(" by ");
                let by = if guards.is_empty() { "a condition".to_string() } else { guards.to_string() };
                format!("they come after the last row at which one of these ends the wait: {by}")
            }
            None => "they wait for later rows".to_string(),
        })
    }
}

/// The refusal to train on such data. `wait` is the stream that waits, `delay` how late gradients must be so
/// that nothing waits for itself.
pub(super) fn refusal(mut diagnostic: Diagnostic, wait: Option<Wait>, delay: Option<String>) -> Diagnostic {
    let mut reasons = Vec::new();
    if let Some(Wait { text, cause }) = wait {
        reasons.push(text);
        if let Some((span, label)) = cause {
            diagnostic = diagnostic.cause(span, label);
        }
    }
    reasons.push("rows without a known loss are not learnt from".to_string());
    let mut help = "`segment` in the `train` declaration ends sequences by an input `end`, `truncate` cuts gradients by an input `cut`; \
                    `bp` false leaves these rows out; or give more data after the last row"
        .to_string();
    if let Some(delay) = delay {
        help = format!("{delay}; {help}");
    }
    diagnostic.reason(reasons.join("; ")).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pass over rows: `k` has a known loss, `u` an unknown one, `-` none; `.` is an inactive row.
    fn pass(rows: &str) -> Unknown {
        let mut unknown = Unknown::default();
        for row in rows.chars() {
            unknown.row(row != '.');
            match row {
                'k' => unknown.known(1),
                'u' => unknown.unknown(1),
                _ => {}
            }
        }
        unknown
    }

    #[track_caller]
    fn check_look_ahead(rows: &str, z: usize, is_harmless: bool) {
        assert_eq!(pass(rows).is_harmless(Some(&Verdict::LookAhead(z)), true), is_harmless, "{rows}, {z}");
    }

    #[test]
    fn a_look_ahead_explains_as_many_rows_at_the_end() {
        check_look_ahead("kkkk", 0, true);
        check_look_ahead("kkku", 0, false);
        check_look_ahead("kkku", 1, true);
        check_look_ahead("kkuu", 1, false);
        check_look_ahead("kkuu", 2, true);
        check_look_ahead("kukk", 1, false);
    }

    #[test]
    fn only_rows_with_a_present_input_count() {
        check_look_ahead("kk.u..", 1, true);
        check_look_ahead("..kuk", 1, false);
        check_look_ahead("k--u-", 1, false);
        check_look_ahead("k--u-", 2, true);
    }

    #[test]
    fn half_of_the_losses_must_be_known() {
        check_look_ahead("ku", 1, true);
        check_look_ahead("kuu", 2, false);
        check_look_ahead("u", 1, false);
    }

    #[test]
    fn after_the_last_guard_no_loss_is_known() {
        let is_harmless = |rows: &str, has_state| pass(rows).is_harmless(None, has_state);
        assert!(is_harmless("kkku", true));
        // No learnt state is known; and a known loss after an unknown one has no explanation.
        assert!(!is_harmless("kkku", false));
        assert!(!is_harmless("kkuk", true));
    }
}
