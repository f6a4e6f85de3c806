//! How a law is tried.

use std::fmt::Debug;
use std::ops::Range;

use eddy_tests::law;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use super::case::{Case, Ready, Refusal};
use super::generate::{Choices, Generator};

pub use eddy_tests::law::{Trial, Verdict, show};

/// How many decisions there are for programs, for traces, and for what a law does with them: mostly more than they take.
const N_CHOICES: [Range<usize>; 3] = [60..300, 40..90, 30..60];

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
    let choices = N_CHOICES.map(|n| vec(any::<u16>(), n));
    let samples = choices.prop_map(|[program, trace, law]| {
        let (program, trace) = (Generator::new(&program), Choices::new(&trace));
        sample(&mut Source { program, trace, law: &law })
    });
    law::law(name, cases, &samples, trial);
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
        Ok(ready) => match trial(case, ready)? {
            // Nothing happens on an empty trace.
            Verdict::Holds => Ok(Verdict::of(ready.n_cycles > 0, "no cycle")),
            vacuous @ Verdict::Vacuous(_) => Ok(vacuous),
        },
        Err(Refusal::Causality) => Ok(Verdict::Vacuous("waits for itself")),
        Err(Refusal::Arithmetic) => Ok(Verdict::Vacuous("no value")),
        Err(Refusal::Other(message)) => Err(format!("not accepted: {message}")),
    }
}
