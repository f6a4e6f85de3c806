//! `lam` and functions.

use eddy_language::kernels::Kernel;
use eddy_syntax::SourceFile;
use eddy_tables::dialect::Dialect;
use eddy_tables::run::{Limits, RunError, Shown, Stuck, run};
use eddy_tables::typing::check;
use eddy_tests::choices::Choices;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use crate::generate_lam::int_term;
use crate::harness::{Found, MAX_CHOICES, Trial, Verdict, law, same, translated};

#[test]
fn a_program_is_its_translation() {
    let samples = vec(any::<u16>(), 0..MAX_CHOICES).prop_map(|choices| int_term(&mut Choices::new(&choices)));
    law("lam: value", 1000, &samples, |text| agrees(text));
}

#[test]
fn a_recursion_by_self_application_is_one() {
    let samples = (0..12_i64, 1..5_i64).prop_map(|(n, k)| {
        format!("let f = \\self n acc. if n = 0 then acc else self self (n - 1) (acc * {k} + n) in f f {n} 0")
    });
    law("lam: recursion", 30, &samples, |text| agrees(text));
}

/// Both have the same value; a failure may be in a function that the translation never calls.
fn agrees(text: &str) -> Trial {
    let program = check(&SourceFile::new("law.lam", text), Dialect::Lambda)
        .map_err(|found| format!("not accepted: {}\n{text}", found[0].title))?;
    match run(&program, Limits { fuel: 10_000, ..Limits::default() }).0 {
        Ok(Shown(value)) => {
            #[allow(clippy::cast_precision_loss)] // numbers of laws are small
            let value = value.parse::<i64>().map_err(|_| format!("{value} is no number\n{text}"))? as f64;
            same(Kernel::Lam, text, &[value])
        }
        Err(RunError::Stuck(_, Stuck::Zero)) => match translated(Kernel::Lam, text) {
            Found::Failed(failed) if failed.title.contains("division by zero") => Ok(Verdict::Holds),
            Found::Failed(failed) => Err(format!("fails with {}\n{text}", failed.title)),
            Found::Numbers(_) => Ok(Verdict::Vacuous("a division by zero in an argument of a function")),
            Found::Refused(found) => Err(format!("refused: {}\n{text}", found[0].title)),
        },
        Err(other) => Err(format!("{other:?}\n{text}")),
    }
}
