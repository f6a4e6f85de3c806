//! The runner of laws, and equality of answers.

use std::fmt::Debug;

use eddy_pullback::engine::{Engine, Report, run};
use eddy_pullback::outcome::{Answer, Leaf, Limits, Outcome, Stop};
use eddy_pullback::syntax::Program;
use eddy_syntax::SourceFile;
use eddy_tests::law;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use crate::generate::Generator;

pub use eddy_tests::law::{Trial, Verdict};

/// More choices than most programs need.
const MAX_CHOICES: usize = 120;

/// Enough for most programs; programs that need more are skipped.
pub const LIMITS: Limits = Limits { fuel: 30_000, memory: 1 << 28 };

/// The reason for skipping a program that takes too long.
pub const TOO_LONG: &str = "too long";

/// Tries a law on generated samples.
pub fn law<S: Debug + 'static>(
    name: &'static str,
    cases: u32,
    sample: impl Fn(&mut Generator<'_>) -> S + Send + 'static,
    trial: impl Fn(&S) -> Trial + Send + 'static,
) {
    let samples =
        vec(any::<u16>(), 0..MAX_CHOICES).prop_map(move |choices| sample(&mut Generator::new(&choices)));
    law::law(name, cases, &samples, trial);
}

/// Checks a generated program, which is accepted.
pub fn accepted(source: &str) -> Result<Program, String> {
    eddy_pullback::typing::check(&SourceFile::new("law.pb", source)).map_err(|diagnostics| {
        let first = &diagnostics[0];
        format!("not accepted: {} {} at {:?}\n{source}", first.code, first.title, first.primary.span)
    })
}

/// The answer of an engine; `None` if it takes too long.
pub fn answer(program: &Program, engine: Engine) -> Result<Option<Answer>, String> {
    finished(&run(program, engine, LIMITS)).map_err(|problem| format!("{}: {problem}", engine.name()))
}

fn finished(report: &Report) -> Result<Option<Answer>, String> {
    match &report.outcome {
        Outcome::Value(answer) => Ok(Some(answer.clone())),
        Outcome::Stopped(Stop::OutOfFuel | Stop::OutOfMemory) => Ok(None),
        other => Err(format!("no value: {other:?}")),
    }
}

/// The numbers of the answer of a program that the fast engine runs.
pub fn numbers(source: &str) -> Result<Option<Vec<f64>>, String> {
    let program = accepted(source)?;
    Ok(answer(&program, Engine::Fast)?.map(|answer| reals(&answer)))
}

/// The numbers of an answer.
pub fn reals(answer: &Answer) -> Vec<f64> {
    answer
        .leaves
        .iter()
        .filter_map(|leaf| match leaf {
            Leaf::Real(value) => Some(*value),
            Leaf::Function | Leaf::Dual => None,
        })
        .collect()
}

/// Whether two lists of numbers are the same up to rounding.
pub fn close(left: &[f64], right: &[f64], tolerance: f64) -> bool {
    let scale = left.iter().chain(right).fold(1.0_f64, |scale, value| scale.max(value.abs()));
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| (a - b).abs() <= tolerance * scale)
}

/// Two answers are the same; engines compute the same numbers in different orders.
pub fn same(left: &Answer, right: &Answer) -> Result<(), String> {
    let kinds = |answer: &Answer| answer.leaves.iter().map(std::mem::discriminant).collect::<Vec<_>>();
    let is_same = kinds(left) == kinds(right) && close(&reals(left), &reals(right), 1e-9);
    if is_same { Ok(()) } else { Err(format!("{:?} is not {:?}", left.leaves, right.leaves)) }
}
