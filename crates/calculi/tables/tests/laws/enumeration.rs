//! `enum` lists exactly the values that `ask` answers with yes (P14).

use eddy_tables::ask::Answer;
use eddy_tables::dialect::Dialect;
use eddy_tables::enumerate::Enumeration;
use eddy_tables::integer::Int;
use eddy_tables::syntax::Program;
use eddy_tables::value::{Value, Values};

use eddy_tests::choices::Choices;

use crate::generate::{lam, systemf};
use crate::harness::{LIMITS, Trial, Verdict, ask, law, program, universe};

/// The values up to a size, and whether the list is complete.
pub fn listed(program: &Program, size: usize, values: &mut Values) -> (Vec<Value>, bool) {
    let mut enumeration = Enumeration::new(program, &[Int::ZERO, Int::ONE], values, LIMITS);
    let lists: Vec<Vec<Value>> = (0..size).map(|_| enumeration.next_size().expect("few values")).collect();
    let is_complete = enumeration.is_complete();
    (lists.concat(), is_complete)
}

#[test]
fn p14_enumeration_lists_what_is_answered_yes() {
    law("P14", 500, lam::mixed, |text| lists_the_meaning(&program(Dialect::Lambda, text), 5));
    let sample = |choices: &mut Choices<'_>| systemf::term(choices).0;
    law("P14 in System F", 300, sample, |text| lists_the_meaning(&program(Dialect::SystemF, text), 4));
}

fn lists_the_meaning(program: &Program, size: usize) -> Trial {
    let mut values = Values::default();
    let (found, is_complete) = listed(program, size, &mut values);
    for pair in found.windows(2) {
        let order = (values.size(pair[0]), values.size(pair[1]));
        let is_sorted = order.0 < order.1 || order.0 == order.1 && values.compare(pair[0], pair[1]).is_lt();
        if !is_sorted {
            return Err(format!("{} before {}", values.show(pair[0]), values.show(pair[1])));
        }
    }
    for value in &found {
        if ask(program, *value, &mut values) == Answer::No {
            return Err(format!("{} is listed, and not in the meaning", values.show(*value)));
        }
    }
    let mut is_inhabited = false;
    for value in universe(program.dialect, size, &mut values) {
        match ask(program, value, &mut values) {
            Answer::Yes if is_complete && !found.contains(&value) => {
                return Err(format!("{} is in the meaning, and not listed", values.show(value)));
            }
            Answer::Yes => is_inhabited = true,
            Answer::No | Answer::Unknown => {}
        }
    }
    Ok(Verdict::of(is_inhabited, "nothing is in the meaning"))
}
