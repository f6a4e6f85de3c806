//! Properties of the generated programs: all are accepted, about a quarter are undefined.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use eddy_rd::engine::{Engine, run};
use eddy_rd::outcome::Outcome;

use crate::compare::overflows;
use crate::generate::Generator;
use crate::harness::{LIMITS, Verdict, accepted, law, show};

#[test]
fn generated_programs_are_accepted_and_a_quarter_of_them_undefined() {
    let tally = Arc::new(Mutex::new(BTreeMap::<&str, usize>::new()));
    let outcomes = Arc::clone(&tally);
    law(
        "distribution",
        4000,
        |generator: &mut Generator<'_>| generator.program(),
        move |(source, ty)| {
            let program = accepted(source)?;
            let found = program.terms.types.show(program.terms.ty(program.main));
            if found != ty.show() {
                return Err(format!("expected {}, found {found}", ty.show()));
            }
            let kind = match run(&program, Engine::Tape, LIMITS).outcome {
                outcome if overflows(&outcome) => "overflow",
                Outcome::Value(value) if value.leaves().iter().all(|real| *real == 0.0) => "zero",
                Outcome::Value(_) => "other value",
                Outcome::Undefined(_) => "undefined",
                Outcome::Diverged => "out of fuel",
                Outcome::OutOfMemory => "out of memory",
                Outcome::Interval(..) => unreachable!("only under `use clarke`"),
            };
            *outcomes.lock().expect("no counting thread panicked").entry(kind).or_default() += 1;
            Ok(Verdict::Holds)
        },
    );
    let tally = tally.lock().expect("no counting thread panicked");
    show(&format!("outcomes: {tally:?}"));
    let share = |kind: &str| 100 * tally.get(kind).copied().unwrap_or(0) / tally.values().sum::<usize>();
    assert!((15..=35).contains(&share("undefined")), "about a quarter should be undefined: {tally:?}");
    assert!(share("other value") >= 40, "most programs should compute something: {tally:?}");
    assert!(share("out of memory") == 0, "no program should run out of memory: {tally:?}");
}
