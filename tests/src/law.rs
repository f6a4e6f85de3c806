//! How a law is tried on generated samples, the same ones on every run.
//!
//! A sample is made out of numbers ([`Choices`](crate::choices::Choices)), so that it shrinks with them. Each law has its own
//! numbers, from a hash of its name. `EDDY_CASES=10` tries ten times as many samples, and `-- --nocapture` shows on how many a law
//! had something to say.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

/// What a law says about one sample.
pub enum Verdict {
    /// It holds.
    Holds,
    /// It says nothing, for this reason.
    Skipped(&'static str),
}

/// What a law says, or how it is broken.
pub type Trial = Result<Verdict, String>;

/// How often each verdict was given.
pub type Tally = BTreeMap<&'static str, u32>;

/// Tries a law on so many samples, times `EDDY_CASES`; a broken one panics with the smallest sample that breaks it. A law that says
/// nothing about most samples is not tried at all, and fails.
pub fn law<S: Strategy>(name: &str, cases: u32, samples: &S, trial: impl Fn(&S::Value) -> Trial) -> Tally {
    let tally = RefCell::new(Tally::new());
    let outcome = TestRunner::new(config(name, cases)).run(samples, |sample| match trial(&sample) {
        Ok(verdict) => {
            let key = match verdict {
                Verdict::Holds => "holds",
                Verdict::Skipped(reason) => reason,
            };
            *tally.borrow_mut().entry(key).or_default() += 1;
            Ok(())
        }
        Err(broken) => Err(TestCaseError::fail(broken)),
    });
    let tally = tally.into_inner();
    show(&format!("{name}: {tally:?}"));
    if let Err(broken) = outcome {
        panic!("{name}: {broken}");
    }
    let (holds, total) = (tally.get("holds").copied().unwrap_or(0), tally.values().sum::<u32>());
    assert!(2 * holds >= total, "{name} says nothing about most samples: {tally:?}");
    tally
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
