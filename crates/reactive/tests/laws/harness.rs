//! How a law is tried.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

use crate::case::{Case, Ready, Refusal};
use crate::generate::{Choices, Generator};

/// How many decisions there are for programs, for traces, and for what a law does with them: mostly more than they take.
const N_CHOICES: [Range<usize>; 3] = [60..300, 40..90, 30..60];

/// What a law says about one sample.
pub enum Verdict {
    /// It holds.
    Holds,
    /// It says nothing, for this reason.
    Skipped(&'static str),
}

/// What a law says, or how it is broken.
pub type Trial = Result<Verdict, String>;

/// Where samples come from: decisions about the program, about the trace, and about what a law does with them.
pub struct Source<'a> {
    pub program: Generator<'a>,
    pub trace: Choices<'a>,
    pub law: &'a [u16],
}

/// Tries a law on so many samples, times `EDDY_CASES`. A law that says nothing about most samples is not tried at
/// all, and fails.
pub fn law<S: Debug>(
    name: &'static str,
    cases: u32,
    sample: impl Fn(&mut Source<'_>) -> S,
    trial: impl Fn(&S) -> Trial,
) {
    let tally = RefCell::new(BTreeMap::<&str, u32>::new());
    let choices = N_CHOICES.map(|n| vec(any::<u16>(), n));
    let strategy = choices.prop_map(|[program, trace, law]| {
        let (program, trace) = (Generator::new(&program), Choices::new(&trace));
        sample(&mut Source { program, trace, law: &law })
    });
    let outcome = TestRunner::new(config(name, cases)).run(&strategy, |sample| match trial(&sample) {
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
}

/// A law about programs that are accepted, on a trace that respects their clocks.
pub fn law_of_programs(
    name: &'static str,
    cases: u32,
    sample: impl Fn(&mut Source<'_>) -> Case,
    trial: impl Fn(&Case, &Ready) -> Trial,
) {
    law(name, cases, sample, |case| accepted(case, &trial));
}

/// Programs that wait for themselves are skipped, and so are those whose arithmetic has no value. Any other refusal is a
/// mistake of the generator, or of the checks.
pub fn accepted(case: &Case, trial: impl Fn(&Case, &Ready) -> Trial) -> Trial {
    match &case.outcome {
        Ok(ready) => trial(case, ready),
        Err(Refusal::Causality) => Ok(Verdict::Skipped("waits for itself")),
        Err(Refusal::Arithmetic) => Ok(Verdict::Skipped("no value")),
        Err(Refusal::Other(message)) => Err(format!("not accepted: {message}")),
    }
}

fn config(name: &str, cases: u32) -> Config {
    let factor = std::env::var("EDDY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    // Each law has its own programs: a hash of its name (FNV-1a) starts the random numbers.
    let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    Config {
        cases: cases * factor,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        max_shrink_iters: 20_000,
        ..Config::default()
    }
}

/// Shown with `--nocapture`.
#[allow(clippy::print_stdout)]
pub fn show(line: &str) {
    println!("{line}");
}
