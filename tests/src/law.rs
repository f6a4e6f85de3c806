//! Tries laws on generated samples, which are the same on every run.
//!
//! A sample is made from numbers ([`Choices`](crate::choices::Choices)), so that it shrinks with them. Each
//! law has its own numbers, seeded by a hash of its name. `EDDY_CASES=10` tries ten times as many samples,
//! and `-- --nocapture` shows how many were vacuous, and why.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

/// The result of a law on one sample that does not break it.
pub enum Verdict {
    /// Something was compared that could have been different.
    Holds,
    /// Nothing was compared, for this reason.
    Vacuous(&'static str),
}

impl Verdict {
    /// [`Verdict::Holds`] if something was compared, otherwise [`Verdict::Vacuous`] with this reason.
    pub fn of(is_compared: bool, why_not: &'static str) -> Verdict {
        if is_compared { Verdict::Holds } else { Verdict::Vacuous(why_not) }
    }
}

/// The error describes how the sample breaks the law.
pub type Trial = Result<Verdict, String>;

/// The number of samples with each verdict: `holds`, or the reason of a vacuous one.
pub type Tally = BTreeMap<&'static str, u32>;

/// A law fails if more than this share of its samples is vacuous.
pub const MAX_VACUOUS_PERCENT: u32 = 50;

/// Tries a law on this many samples, times `EDDY_CASES`. Panics with the smallest sample that breaks it, or
/// if more than [`MAX_VACUOUS_PERCENT`] of the samples are vacuous.
pub fn law<S: Strategy>(name: &str, cases: u32, samples: &S, trial: impl Fn(&S::Value) -> Trial) -> Tally {
    let tally = RefCell::new(Tally::new());
    let outcome = TestRunner::new(config(name, cases)).run(samples, |sample| match trial(&sample) {
        Ok(verdict) => {
            let key = match verdict {
                Verdict::Holds => HOLDS,
                Verdict::Vacuous(reason) => reason,
            };
            *tally.borrow_mut().entry(key).or_default() += 1;
            Ok(())
        }
        Err(broken) => Err(TestCaseError::fail(broken)),
    });
    let tally = tally.into_inner();
    let (vacuous, total) = vacuous_share(&tally);
    show(&format!("{name}: {vacuous} of {total} samples are vacuous: {tally:?}"));
    if let Err(broken) = outcome {
        panic!("{name}: {broken}");
    }
    let is_mostly_vacuous = 100 * vacuous > MAX_VACUOUS_PERCENT * total;
    assert!(
        !is_mostly_vacuous,
        "{name}: {vacuous} of {total} samples are vacuous, more than {MAX_VACUOUS_PERCENT} %: {tally:?}"
    );
    tally
}

/// The key of [`Verdict::Holds`].
const HOLDS: &str = "holds";

/// The number of vacuous samples, and of all samples.
fn vacuous_share(tally: &Tally) -> (u32, u32) {
    let total = tally.values().sum::<u32>();
    (total - tally.get(HOLDS).copied().unwrap_or(0), total)
}

/// Counts how often the samples of a law met each of several cases: rules, operations, kinds of terms.
///
/// A law over generated samples says nothing about a rule that no sample uses, however many samples hold.
#[derive(Debug, Default)]
pub struct Coverage(RefCell<BTreeMap<String, u32>>);

impl Coverage {
    pub fn note(&self, case: impl Into<String>) {
        *self.0.borrow_mut().entry(case.into()).or_default() += 1;
    }

    pub fn times(&self, case: &str) -> u32 {
        self.0.borrow().get(case).copied().unwrap_or(0)
    }

    /// Panics unless each of these cases was met at least `least` times.
    pub fn require(&self, name: &str, least: u32, cases: impl IntoIterator<Item = impl AsRef<str>>) {
        show(&format!("{name} met: {:?}", self.0.borrow()));
        let is_rare = |case: &String| self.times(case) < least;
        let rare: Vec<String> =
            cases.into_iter().map(|case| case.as_ref().to_string()).filter(is_rare).collect();
        assert!(rare.is_empty(), "{name}: not met {least} times: {rare:?} among {:?}", self.0.borrow());
    }
}

fn config(name: &str, cases: u32) -> Config {
    // The hash FNV-1a of the name seeds the random numbers.
    let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    Config {
        cases: cases * factor(),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        max_shrink_iters: 20_000,
        ..Config::default()
    }
}

/// `EDDY_CASES`: the factor for the number of samples.
pub fn factor() -> u32 {
    std::env::var("EDDY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// Prints a line, which `--nocapture` shows.
#[allow(clippy::print_stdout, reason = "a test talks to the developer who asked for it")]
pub fn show(line: &str) {
    println!("{line}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;

    use super::*;

    /// Whether a law passes that is vacuous on numbers below this.
    fn passes(vacuous_below: u8) -> bool {
        let trial = |n: &u8| Ok(Verdict::of(*n >= vacuous_below, "small"));
        std::panic::catch_unwind(|| law("a law of small numbers", 100, &any::<u8>(), trial)).is_ok()
    }

    #[test]
    fn a_law_that_is_mostly_vacuous_fails() {
        assert!(passes(0));
        assert!(passes(64));
        assert!(!passes(192));
        assert!(!passes(255));
    }

    #[test]
    fn cases_that_are_not_met_are_named() {
        let coverage = Coverage::default();
        coverage.note("beta");
        coverage.require("a law", 1, ["beta"]);
        let missing = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            coverage.require("a law", 1, ["beta", "pi-D"]);
        }));
        let message = *missing.expect_err("`pi-D` is not met").downcast::<String>().expect("a message");
        assert!(message.contains("[\"pi-D\"]"), "{message}");
    }
}
