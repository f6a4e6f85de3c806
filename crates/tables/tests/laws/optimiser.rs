//! The optimiser keeps meanings (P13; Lemma 4.1) and what programs run to (Theorem 4.2).

use eddy_tables::ask::Answer;
use eddy_tables::dialect::Dialect;
use eddy_tables::optimise::optimise;
use eddy_tables::print;
use eddy_tables::run::Failure;
use eddy_tables::syntax::Program;
use eddy_tables::value::Values;
use eddy_tests::choices::Choices;

use crate::generate::lam;
use crate::harness::{Verdict, ask, law, program, run, some_of, universe};

fn optimised(text: &str, depth: u32) -> Option<Program> {
    let mut program = program(Dialect::Lambda, text);
    let main = optimise(&mut program, depth).ok()?;
    Some(Program { main, ..program })
}

/// P13, meanings: ask(e,v) = ask(O[e]k,v).
#[test]
fn p13_the_optimiser_preserves_denotations() {
    let sample = |choices: &mut Choices<'_>| {
        let text = lam::term(choices);
        let seeds: Vec<u16> =
            (0..8).map(|_| u16::try_from(choices.below(1 << 16)).expect("16 bits")).collect();
        (text, seeds)
    };
    law("P13, meanings", 700, sample, |(text, seeds)| {
        let before = program(Dialect::Lambda, text);
        let mut values = Values::default();
        let all = universe(Dialect::Lambda, 5, &mut values);
        let mut goals = some_of(&all, &mut Choices::new(seeds), 8);
        goals.extend(all[..3].iter().copied());
        for depth in 0..=4 {
            let Some(after) = optimised(text, depth) else { return Ok(Verdict::Skipped("too large")) };
            for value in &goals {
                let answers = (ask(&before, *value, &mut values), ask(&after, *value, &mut values));
                let are_known = answers.0 != Answer::Unknown && answers.1 != Answer::Unknown;
                if are_known && answers.0 != answers.1 {
                    let shown = print::show(&after.terms, after.main);
                    return Err(format!(
                        "depth {depth}: {shown}: {} is answered {answers:?}",
                        values.show(*value)
                    ));
                }
            }
        }
        Ok(Verdict::Holds)
    });
}

/// P13, results: whatever a program runs to, or is stuck at, its optimised form does too; it may only need less fuel.
#[test]
fn p13_the_optimiser_preserves_results() {
    law("P13, results", 2000, lam::term, |text| {
        let expected = run(&program(Dialect::Lambda, text));
        if let Err(Failure::Fuel(_) | Failure::Memory(_)) = expected {
            return Ok(Verdict::Skipped("out of fuel"));
        }
        for depth in 0..=4 {
            let Some(after) = optimised(text, depth) else { return Ok(Verdict::Skipped("too large")) };
            let found = run(&after);
            let agree = match (&expected, &found) {
                (Err(Failure::Stuck(_, why)), Err(Failure::Stuck(_, other))) => why == other,
                _ => expected == found,
            };
            if !agree {
                let shown = print::show(&after.terms, after.main);
                return Err(format!("depth {depth}: {shown}: {found:?} instead of {expected:?}"));
            }
        }
        Ok(Verdict::Holds)
    });
}
