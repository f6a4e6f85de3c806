//! How a law is tried: on operands for each operation, made from random choices that are the same on every run.

use eddy_tensor::Op;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

use crate::cases::{Case, Choices, case};

/// More choices than any case takes.
const MAX_CHOICES: usize = 400;

/// What a law says about one case: nothing more if it holds, a reason if it does not.
pub type Verdict = Result<(), String>;

/// Tries a law on so many cases of each operation that it speaks about.
pub fn law(name: &str, cases: u32, speaks_about: impl Fn(&Op) -> bool, holds: impl Fn(&Case) -> Verdict) {
    let mut n_operations = 0;
    for op in Op::all().filter(|op| speaks_about(op)) {
        n_operations += 1;
        let strategy =
            vec(any::<u16>(), 0..MAX_CHOICES).prop_map(|choices| case(op, &mut Choices::new(&choices)));
        let verdict = TestRunner::new(config(name, cases))
            .run(&strategy, |case| holds(&case).map_err(TestCaseError::fail));
        if let Err(broken) = verdict {
            panic!("{name}: {broken}");
        }
    }
    assert!(n_operations > 0, "{name} speaks about no operation");
}

/// Tries a law on so many cases of its own.
pub fn law_of<S: std::fmt::Debug>(
    name: &str,
    cases: u32,
    sample: impl Fn(&mut Choices<'_>) -> S,
    holds: impl Fn(&S) -> Verdict,
) {
    let strategy = vec(any::<u16>(), 0..MAX_CHOICES).prop_map(|choices| sample(&mut Choices::new(&choices)));
    let verdict = TestRunner::new(config(name, cases))
        .run(&strategy, |sample| holds(&sample).map_err(TestCaseError::fail));
    if let Err(broken) = verdict {
        panic!("{name}: {broken}");
    }
}

fn config(name: &str, cases: u32) -> Config {
    let factor = std::env::var("EDDY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    // Each law has its own numbers: a hash of its name (FNV-1a) starts them.
    let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    Config {
        cases: cases * factor,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        max_shrink_iters: 2_000,
        ..Config::default()
    }
}
