//! How a law is tried.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;

use eddy_rd::outcome::Limits;
use eddy_rd::syntax::Program;
use eddy_syntax::SourceFile;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

use crate::generate::Generator;

/// More decisions than most programs take.
const MAX_CHOICES: usize = 300;

/// Enough for every recursion whose argument is not large.
pub const LIMITS: Limits = Limits { fuel: 100, memory: 1 << 30 };

/// What a law says about one program.
pub enum Verdict {
    /// It holds.
    Holds,
    /// It says nothing, for this reason.
    Skipped(&'static str),
}

/// Why a law says nothing where two ways to round a number lead to different branches. It may explain one sample in a
/// thousand, and no more.
pub const ROUNDING: &str = "decided by rounding";

/// What a law says, or how it is broken.
pub type Trial = Result<Verdict, String>;

/// Tries a law on so many samples, times `EDDY_CASES`. A law that says nothing about most samples is not tried at
/// all, and fails.
pub fn law<S: Debug + 'static>(
    name: &'static str,
    cases: u32,
    sample: impl Fn(&mut Generator<'_>) -> S + Send + 'static,
    trial: impl Fn(&S) -> Trial + Send + 'static,
) {
    on_large_stack(move || {
        let tally = RefCell::new(BTreeMap::<&str, u32>::new());
        let strategy =
            vec(any::<u16>(), 0..MAX_CHOICES).prop_map(|choices| sample(&mut Generator::new(&choices)));
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
        let count = |verdict: &str| tally.get(verdict).copied().unwrap_or(0);
        let (holds, total) = (count("holds"), tally.values().sum::<u32>());
        assert!(1000 * count(ROUNDING) <= total, "{name}: rounding cannot explain so much: {tally:?}");
        assert!(2 * holds >= total, "{name} says nothing about most samples: {tally:?}");
    });
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

/// The denotational evaluator recurses as deep as the programs that it runs.
pub fn on_large_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(run).expect("a thread can be started");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Shown with `--nocapture`.
#[allow(clippy::print_stdout)]
pub fn show(line: &str) {
    println!("{line}");
}

/// Checks a generated program, which is accepted.
pub fn accepted(source: &str) -> Result<Program, String> {
    eddy_rd::typing::check(&SourceFile::new("law.rd", source)).map_err(|diagnostics| {
        let first = &diagnostics[0];
        format!("not accepted: {} {} at {:?}\n{source}", first.code, first.title, first.primary.span)
    })
}
