//! The runner of laws.

use std::fmt::Debug;

use eddy_coherent::engine::paths;
use eddy_coherent::environment;
use eddy_coherent::krivine::det;
use eddy_coherent::outcome::{Limits, Outcome};
use eddy_coherent::syntax::{Bit, Program, TermId};
use eddy_coherent::types::Type;
use eddy_tests::law;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use crate::generate::{Generator, Sample};

pub use eddy_tests::law::{Trial, Verdict, show};

/// More choices than most programs need.
const MAX_CHOICES: usize = 200;

/// As many steps as section 13 gives. The terms of runs that do not end grow exponentially; some ten thousand
/// are enough.
pub const LIMITS: Limits = Limits { fuel: 3000, memory: 2 << 20 };

/// Tries a law on programs that the generator makes.
pub fn law<S: Debug>(
    name: &str,
    cases: u32,
    sample: impl Fn(Generator<'_>) -> S,
    trial: impl Fn(&S) -> Trial,
) {
    let samples = vec(any::<u16>(), 0..MAX_CHOICES).prop_map(|choices| sample(Generator::new(&choices)));
    law::law(name, cases, &samples, trial);
}

/// Requires a minimal number of counted samples.
pub fn at_least(name: &str, times: u32, counted: u32) {
    show(&format!("{name}: {counted} times"));
    assert!(counted >= times, "{name}: only {counted} times");
}

pub fn leaves(program: &Program) -> impl Iterator<Item = Vec<Bit>> {
    paths(program.ty.depth)
}

/// The leaf of a program by the det machine.
pub fn det(program: &Program, path: &[Bit]) -> det::Run {
    det::run(program, path, LIMITS)
}

/// The leaf of a program by the environment machine.
pub fn env(program: &Program, path: &[Bit]) -> Outcome {
    let code = environment::compile(program, LIMITS.memory).expect("a small program");
    environment::run(&code, path, LIMITS).outcome
}

/// Another term over the terms of a program.
pub fn with_main(program: &Program, main: TermId, ty: Type) -> Program {
    Program { main, ty, ..program.clone() }
}

/// Whether two outcomes are the same, ignoring ticks; `None` if one is unknown.
pub fn same(one: Outcome, other: Outcome) -> Option<bool> {
    match (one, other) {
        (Outcome::Exhausted(_), _) | (_, Outcome::Exhausted(_)) => None,
        (Outcome::Value { value, .. }, Outcome::Value { value: other, .. }) => Some(value == other),
        (Outcome::Empty, Outcome::Empty) => Some(true),
        _ => Some(false),
    }
}

/// Holds if all known comparisons agree; vacuous if none is known.
pub fn all_same(comparisons: impl Iterator<Item = (Vec<Bit>, Outcome, Outcome)>) -> Trial {
    let mut is_informative = false;
    for (path, one, other) in comparisons {
        match same(one, other) {
            Some(false) => return Err(format!("at {path:?}: {one:?} and {other:?}")),
            Some(true) => is_informative = true,
            None => {}
        }
    }
    Ok(if is_informative { Verdict::Holds } else { Verdict::Vacuous("out of fuel") })
}

pub fn program(generator: Generator<'_>) -> Sample {
    crate::generate::program(generator)
}
