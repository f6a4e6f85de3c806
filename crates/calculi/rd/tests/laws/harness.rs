//! The runner of laws.

use std::fmt::Debug;

use eddy_rd::outcome::Limits;
use eddy_rd::syntax::Program;
use eddy_syntax::SourceFile;
use eddy_tests::law;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use crate::generate::Generator;

pub use eddy_tests::law::{Trial, Verdict, show};

/// More choices than most programs need.
const MAX_CHOICES: usize = 300;

/// Enough for every recursion with a small argument.
pub const LIMITS: Limits = Limits { fuel: 100, memory: 1 << 30 };

/// The reason for skipping a sample in which two ways to round a number lead to different branches. At most
/// one sample in a thousand may be skipped for it.
pub const ROUNDING: &str = "decided by rounding";

/// Tries a law on programs that the generator makes.
pub fn law<S: Debug + 'static>(
    name: &'static str,
    cases: u32,
    sample: impl Fn(&mut Generator<'_>) -> S + Send + 'static,
    trial: impl Fn(&S) -> Trial + Send + 'static,
) {
    on_large_stack(move || {
        let samples =
            vec(any::<u16>(), 0..MAX_CHOICES).prop_map(|choices| sample(&mut Generator::new(&choices)));
        let tally = law::law(name, cases, &samples, trial);
        let (rounded, total) = (tally.get(ROUNDING).copied().unwrap_or(0), tally.values().sum::<u32>());
        assert!(
            1000 * rounded <= total,
            "{name}: rounding decides at most one sample in a thousand: {tally:?}"
        );
    });
}

/// Runs a test on a thread with a large stack: the denotational evaluator recurses as deep as its programs.
pub fn on_large_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(run).expect("a thread can be started");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Checks a generated program, which is accepted.
pub fn accepted(source: &str) -> Result<Program, String> {
    eddy_rd::typing::check(&SourceFile::new("law.rd", source)).map_err(|diagnostics| {
        let first = &diagnostics[0];
        format!("not accepted: {} {} at {:?}\n{source}", first.code, first.title, first.primary.span)
    })
}
