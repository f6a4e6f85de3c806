//! What the generated programs are like.

use std::cell::RefCell;
use std::collections::BTreeMap;

use eddy_rd::engine::{Engine, run};
use eddy_rd::outcome::Outcome;

use crate::harness::{LIMITS, Verdict, accepted, law};

thread_local! {
    static OUTCOMES: RefCell<BTreeMap<&'static str, u32>> = const { RefCell::new(BTreeMap::new()) };
}

#[test]
fn every_generated_program_is_accepted_at_its_type() {
    law(
        "distribution",
        2000,
        |generator| generator.program(),
        |(source, ty)| {
            let program = accepted(source)?;
            let found = program.terms.types.show(program.terms.ty(program.main));
            if found != ty.show() {
                return Err(format!("expected {}, found {found}", ty.show()));
            }
            let outcome = run(&program, Engine::Tape, LIMITS).outcome;
            let kind = match outcome {
                Outcome::Value(_) => "value",
                Outcome::Undefined(undefined) => {
                    crate::harness::show(&format!(
                        "REASON {}",
                        undefined.to_string().split(" at ").next().unwrap_or("")
                    ));
                    "undefined"
                }
                Outcome::Diverged => "diverged",
                Outcome::Interval(..) | Outcome::OutOfMemory => "other",
            };
            OUTCOMES.with_borrow_mut(|o| *o.entry(kind).or_default() += 1);
            OUTCOMES.with_borrow(|o| {
                if o.values().sum::<u32>() % 500 == 0 {
                    crate::harness::show(&format!("{o:?} {source}"))
                }
            });
            Ok(Verdict::Holds)
        },
    );
}
