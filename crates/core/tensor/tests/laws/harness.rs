//! Tries a law on operands for each operation. The operands come from random choices that are the same on
//! every run.

use eddy_tensor::Op;
use eddy_tests::law;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use crate::cases::{Case, Choices, case};

/// More choices than any case uses.
const MAX_CHOICES: usize = 400;

/// The result of a law on one case; an error has the reason.
pub type Verdict = Result<(), String>;

/// Tries a law on this many cases of each operation that `applies_to` accepts.
pub fn law(name: &str, cases: u32, applies_to: impl Fn(&Op) -> bool, holds: impl Fn(&Case) -> Verdict) {
    let mut n_operations = 0;
    for op in Op::all().filter(|op| applies_to(op)) {
        n_operations += 1;
        let strategy =
            vec(any::<u16>(), 0..MAX_CHOICES).prop_map(|choices| case(op, &mut Choices::new(&choices)));
        law::law(name, cases, &strategy, |case| holds(case).map(|()| law::Verdict::Holds));
    }
    assert!(n_operations > 0, "{name} applies to no operation");
}

/// Tries a law on this many samples.
pub fn law_of<S: std::fmt::Debug>(
    name: &str,
    cases: u32,
    sample: impl Fn(&mut Choices<'_>) -> S,
    holds: impl Fn(&S) -> Verdict,
) {
    let strategy = vec(any::<u16>(), 0..MAX_CHOICES).prop_map(|choices| sample(&mut Choices::new(&choices)));
    law::law(name, cases, &strategy, |sample| holds(sample).map(|()| law::Verdict::Holds));
}
