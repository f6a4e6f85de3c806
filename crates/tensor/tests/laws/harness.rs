//! How a law is tried: on operands for each operation, made from random choices that are the same on every run.

use eddy_tensor::Op;
use eddy_tests::law;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

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
        law::law(name, cases, &strategy, |case| holds(case).map(|()| law::Verdict::Holds));
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
    law::law(name, cases, &strategy, |sample| holds(sample).map(|()| law::Verdict::Holds));
}
