//! The heap: what is asked about programs with references is what they run to (P19).

use eddy_tables::ask::{Answer, ask as ask_goal};
use eddy_tables::dialect::Dialect;
use eddy_tables::run::Failure;
use eddy_tables::value::parse::Goal;
use eddy_tables::value::{Entry, Side, Values};
use eddy_tests::choices::Choices;

use crate::generate::references;
use crate::harness::{LIMITS, Verdict, ask, law, program, run};

/// P19: run(e)=n iff ask(e,n)=yes, and no well-typed program answers yes to `wrong`.
#[test]
fn p19_integers_are_what_programs_run_to() {
    law("P19", 2000, references::int_term, |text| {
        let program = program(Dialect::References, text);
        let mut values = Values::default();
        let wrong = values.wrong();
        if ask(&program, wrong, &mut values) == Answer::Yes {
            return Err("it goes wrong".into());
        }
        let outcome = run(&program);
        for n in -3..5 {
            let value = values.int(n);
            let answer = ask(&program, value, &mut values);
            let expected = match &outcome {
                Ok(result) if *result == n.to_string() => Answer::Yes,
                Ok(_) | Err(Failure::Stuck(..)) => Answer::No,
                Err(_) => return Ok(Verdict::Skipped("out of fuel")),
            };
            if answer != expected {
                return Err(format!("runs to {outcome:?}, and {n} is answered {answer:?}"));
            }
        }
        Ok(Verdict::Holds)
    });
}

/// P19, last part: renaming addresses in a goal does not change the answer.
#[test]
fn p19_addresses_have_no_names() {
    let sample = |choices: &mut Choices<'_>| {
        let text = references::update(choices);
        (text, choices.below(4), choices.below(4), 1 + choices.below(6) as u64)
    };
    law("P19, addresses", 1000, sample, |(text, before, after, renamed)| {
        let program = program(Dialect::References, text);
        let mut values = Values::default();
        let answers = [0, *renamed].map(|address| {
            let at = values.address(address);
            let [first, second] = [*before, *after].map(|n| values.int(n));
            let [input, output] = [first, second].map(|stored| values.store(vec![(address, stored)]));
            let entry =
                Entry { input: Side { value: at, store: input }, output: Side { value: at, store: output } };
            let value = values.table(vec![entry]);
            ask_goal(&program, Goal { value, store: None }, &mut values, LIMITS).0
        });
        match answers {
            [a, b] if a == b => Ok(Verdict::Holds),
            [a, b] => Err(format!("{a:?} at @0, and {b:?} at @{renamed}")),
        }
    });
}
