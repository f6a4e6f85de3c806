//! The runner of laws.

use eddy_syntax::SourceFile;
use eddy_tables::ask::{self, Answer, Limits};
use eddy_tables::dialect::Dialect;
use eddy_tables::integer::Int;
use eddy_tables::run::{self, RunError, Shown};
use eddy_tables::syntax::Program;
use eddy_tables::typing;
use eddy_tables::value::parse::Goal;
use eddy_tables::value::universe::Universe;
use eddy_tables::value::{Value, Values};
use eddy_tests::choices::Choices;
use eddy_tests::law;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

pub use eddy_tests::law::{Trial, Verdict};

/// More choices than most programs need.
const MAX_CHOICES: usize = 150;

/// Enough for terminating programs of this size; small, so that the others stop soon.
pub const LIMITS: Limits = Limits { fuel: 300, steps: 20_000, memory: 64 << 20 };

/// The same for runs.
pub const RUN_LIMITS: run::Limits = run::Limits { fuel: 300, memory: 64 << 20 };

/// Tries a law on samples that are made from choices.
pub fn law<S: std::fmt::Debug>(
    name: &str,
    cases: u32,
    sample: impl Fn(&mut Choices<'_>) -> S,
    trial: impl Fn(&S) -> Trial,
) {
    let samples = vec(any::<u16>(), 0..MAX_CHOICES).prop_map(|choices| sample(&mut Choices::new(&choices)));
    law::law(name, cases, &samples, trial);
}

/// The program of a correct text.
pub fn program(dialect: Dialect, text: &str) -> Program {
    let file = SourceFile::new("law", text);
    typing::check(&file, dialect).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

/// The answer to a question.
pub fn ask(program: &Program, value: Value, values: &mut Values) -> Answer {
    ask::ask(program, Goal { value, store: None }, values, LIMITS).0
}

/// The outcome of a run.
pub fn run(program: &Program) -> Result<String, RunError> {
    run::run(program, RUN_LIMITS).0.map(|Shown(text)| text)
}

/// All values over 0 and 1 up to a size.
pub fn universe(dialect: Dialect, size: usize, values: &mut Values) -> Vec<Value> {
    let mut universe = Universe::new(dialect, &[Int::ZERO, Int::ONE]);
    (1..=size).flat_map(|size| universe.of_size(size, values).expect("few values").to_vec()).collect()
}

/// Some values, spread over a list.
pub fn some_of(all: &[Value], choices: &mut Choices<'_>, n: usize) -> Vec<Value> {
    (0..n).map(|_| all[choices.below(all.len())]).collect()
}
