//! How a law is tested.

use std::fmt::Debug;
use std::ops::Range;

use eddy_tests::law;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use super::case::{Case, Ready, Refusal};
use super::generate::{Choices, Generator};

pub use eddy_tests::law::{Trial, Verdict, show};

/// The number of decisions for programs, for traces, and for laws: usually more than they take.
const N_CHOICES: [Range<usize>; 3] = [60..300, 40..90, 30..60];

/// The source of samples: decisions about the program, the trace, and for the law.
pub struct SampleChoices<'a> {
    pub program: Generator<'a>,
    pub trace: Choices<'a>,
    pub law: &'a [u16],
}

/// Tests a law on this many samples, times `EDDY_CASES`. A law that does not apply to most samples is not
/// really tested, and fails.
pub fn law<S: Debug>(
    name: &'static str,
    cases: u32,
    sample: impl Fn(&mut SampleChoices<'_>) -> S,
    trial: impl Fn(&S) -> Trial,
) {
    let choices = N_CHOICES.map(|n| vec(any::<u16>(), n));
    let samples = choices.prop_map(|[program, trace, law]| {
        let (program, trace) = (Generator::new(&program), Choices::new(&trace));
        sample(&mut SampleChoices { program, trace, law: &law })
    });
    law::law(name, cases, &samples, trial);
}

/// A law about accepted programs, on a trace that respects their clocks.
pub fn law_of_programs(
    name: &'static str,
    cases: u32,
    sample: impl Fn(&mut SampleChoices<'_>) -> Case,
    trial: impl Fn(&Case, &Ready) -> Trial,
) {
    law(name, cases, sample, |case| accepted(case, &trial));
}

/// Skips programs that wait for themselves and programs whose arithmetic has no value. Any other refusal is
/// an error of the generator or of the checks.
pub fn accepted(case: &Case, trial: impl Fn(&Case, &Ready) -> Trial) -> Trial {
    match &case.outcome {
        Ok(ready) => match trial(case, ready)? {
            // An empty trace is trivial.
            Verdict::Holds => Ok(Verdict::of(ready.n_cycles > 0, "no cycle")),
            vacuous @ Verdict::Vacuous(_) => Ok(vacuous),
        },
        Err(Refusal::Causality) => Ok(Verdict::Vacuous("waits for itself")),
        Err(Refusal::Arithmetic) => Ok(Verdict::Vacuous("no value")),
        Err(Refusal::Other(message)) => Err(format!("not accepted: {message}")),
    }
}
