//! How a law is tried on generated samples, the same ones on every run.
//!
//! A sample is made out of numbers ([`Choices`](crate::choices::Choices)), so that it shrinks with them. Each law has its own
//! numbers, from a hash of its name. `EDDY_CASES=10` tries ten times as many samples, and `-- --nocapture` shows how many of
//! them were vacuous, and why.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

/// What a law says about one sample.
pub enum Verdict {
    /// It holds: something was compared that could have been different.
    Holds,
    /// Nothing was compared, for this reason.
    Vacuous(&'static str),
}

impl Verdict {
    /// [`Verdict::Holds`] after a comparison, else [`Verdict::Vacuous`] for this reason.
    pub fn of(is_compared: bool, why_not: &'static str) -> Verdict {
        if is_compared { Verdict::Holds } else { Verdict::Vacuous(why_not) }
    }
}

/// What a law says, or how it is broken.
pub type Trial = Result<Verdict, String>;

/// How often each verdict was given: `holds`, and the reasons of vacuous samples.
pub type Tally = BTreeMap<&'static str, u32>;

/// A law that is vacuous on more than so many percent of its samples fails.
pub const MAX_VACUOUS_PERCENT: u32 = 50;

/// Tries a law on so many samples, times `EDDY_CASES`; a broken one panics with the smallest sample that breaks it, and so does one that
/// is vacuous on more than [`MAX_VACUOUS_PERCENT`] of them.
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

/// The verdict that is no reason.
const HOLDS: &str = "holds";

/// How many samples were vacuous, of how many.
fn vacuous_share(tally: &Tally) -> (u32, u32) {
    let total = tally.values().sum::<u32>();
    (total - tally.get(HOLDS).copied().unwrap_or(0), total)
}

/// How often the samples of a law met each of several cases: rules, operations, kinds of terms.
///
/// A law over generated samples says nothing about a rule that no sample meets, however many samples hold.
#[derive(Debug, Default)]
pub struct Met(RefCell<BTreeMap<String, u32>>);

impl Met {
    /// A sample met this case.
    pub fn note(&self, case: impl Into<String>) {
        *self.0.borrow_mut().entry(case.into()).or_default() += 1;
    }

    /// How often a case was met.
    pub fn times(&self, case: &str) -> u32 {
        self.0.borrow().get(case).copied().unwrap_or(0)
    }

    /// Each of these cases was met so often; panics with those that were not.
    pub fn require(&self, name: &str, least: u32, cases: impl IntoIterator<Item = impl AsRef<str>>) {
        show(&format!("{name} met: {:?}", self.0.borrow()));
        let is_rare = |case: &String| self.times(case) < least;
        let rare: Vec<String> =
            cases.into_iter().map(|case| case.as_ref().to_string()).filter(is_rare).collect();
        assert!(rare.is_empty(), "{name}: not met {least} times: {rare:?} among {:?}", self.0.borrow());
    }
}

/// How the samples of a law are made.
fn config(name: &str, cases: u32) -> Config {
    // A hash of the name (FNV-1a) starts the random numbers.
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

/// `EDDY_CASES`: how many times as many samples are tried.
pub fn factor() -> u32 {
    std::env::var("EDDY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// Shown with `--nocapture`.
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
        let met = Met::default();
        met.note("beta");
        met.require("a law", 1, ["beta"]);
        let missing = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            met.require("a law", 1, ["beta", "pi-D"]);
        }));
        let message = *missing.expect_err("`pi-D` is not met").downcast::<String>().expect("a message");
        assert!(message.contains("[\"pi-D\"]"), "{message}");
    }
}
