//! Soundness of meanings, tested only by running programs (Lemmas 3.1 to 3.3).
//!
//! The relation G of the paper says which programs *realise* a finite value: `n` is realised by programs that
//! run to `n`, and a table by a function that maps a realiser of an input to a realiser of the output. Here
//! inputs have one realiser each, constructed from the value: the function of a table compares its argument
//! with the inputs in turn. The law needs neither `ask` nor the order to decide the relation.

use eddy_tables::ask::Answer;
use eddy_tables::dialect::Dialect;
use eddy_tables::run::RunError;
use eddy_tables::value::{Entry, Value, ValueKind, Values};
use eddy_tests::choices::Choices;

use crate::generate::simple::{self, Ty};
use crate::harness::{Trial, Verdict, ask, law, program, run};

/// A function of two arguments, of which the second is a number, and choices for values.
fn sample(choices: &mut Choices<'_>) -> (String, Ty, Vec<u16>) {
    let first = if choices.once_in(2) { Ty::Int } else { Ty::arrow(Ty::Int, Ty::Int) };
    let mut scope = vec![("x", first.clone()), ("y", Ty::Int)];
    let body = simple::term(choices, &Ty::Int, 4, &mut scope);
    let seeds = (0..40).map(|_| u16::try_from(choices.below(1 << 16)).expect("16 bits")).collect();
    (format!("\\x. \\y. {body}"), first, seeds)
}

/// Conditions distinguish 0 from all other numbers, including negative ones.
fn integer(choices: &mut Choices<'_>) -> i32 {
    choices.among(&[0, 1, 2, -1])
}

/// A number, or a table of numbers that is a function.
fn input(choices: &mut Choices<'_>, ty: &Ty, values: &mut Values) -> Value {
    if *ty == Ty::Int {
        return values.int(integer(choices));
    }
    let (mut entries, size) = (Vec::new(), choices.below(4));
    for at in 0..size {
        let (at, output) = (values.int(at), values.int(integer(choices)));
        entries.push(Entry::new(at, output));
    }
    values.table(entries)
}

/// A program whose meaning is a value and all values below it.
fn realiser(value: Value, values: &Values) -> String {
    match values.kind(value) {
        ValueKind::Table(entries) => {
            // Where the table has no entry, the function is stuck.
            let entry = |rest: String, entry: &Entry| {
                let output = realiser(entry.output.value, values);
                format!("if a = {} then {output} else {rest}", values.show(entry.input.value))
            };
            format!("(\\a. {})", entries.iter().fold("(0 0)".to_string(), entry))
        }
        _ => format!("({})", values.show(value)),
    }
}

/// Whether a program realises a value; `None` if a run takes too long.
fn realises(text: &str, value: Value, values: &Values) -> Option<bool> {
    match (values.kind(value), run(&program(Dialect::Lambda, text))) {
        (_, Err(RunError::Stuck(..))) => Some(false),
        (_, Err(_)) => None,
        (ValueKind::Int(int), Ok(result)) => Some(int.to_string() == result),
        (ValueKind::Table(entries), Ok(result)) => {
            let mut all = result == "<fun>";
            for entry in entries {
                let call = format!("(({text}) {})", realiser(entry.input.value, values));
                all &= realises(&call, entry.output.value, values)?;
            }
            Some(all)
        }
        _ => Some(false),
    }
}

/// Lemma 3.3: a program realises the values of its meaning; with Lemma 3.2, as the goal is a table over both
/// variables. The converse is Theorem 2 at functions. Lemma 3.1: a realiser of a value realises all values
/// below it.
#[test]
fn lemmas_3_1_to_3_3_meanings_are_what_programs_realise() {
    law("Lemmas 3.1 to 3.3", 800, sample, |(text, first, seeds)| realised_iff_yes(text, first, seeds));
}

fn realised_iff_yes(text: &str, first: &Ty, seeds: &[u16]) -> Trial {
    let program = program(Dialect::Lambda, text);
    let (mut values, mut choices) = (Values::default(), Choices::new(seeds));
    let mut realised = Vec::new();
    for _ in 0..4 {
        let (x, y) = (input(&mut choices, first, &mut values), values.int(integer(&mut choices)));
        for result in -2..4 {
            let result = values.int(result);
            let inner = values.table(vec![Entry::new(y, result)]);
            let goal = values.table(vec![Entry::new(x, inner)]);
            let (answer, by_running) = (ask(&program, goal, &mut values), realises(text, goal, &values));
            match (answer, by_running) {
                (Answer::Unknown, _) | (_, None) => {}
                (answer, Some(is_realised)) if (answer == Answer::Yes) != is_realised => {
                    return Err(format!(
                        "{} is answered {answer:?}, and realised: {is_realised}",
                        values.show(goal)
                    ));
                }
                (Answer::Yes, _) => realised.push(goal),
                (Answer::No, _) => {}
            }
        }
    }
    // Below a table are the tables with fewer entries.
    let mut entries: Vec<Entry> = realised.iter().flat_map(|goal| values.entries(*goal).to_vec()).collect();
    while entries.pop().is_some() {
        let lower = values.table(entries.clone());
        if realises(text, lower, &values) == Some(false) {
            return Err(format!("{} is not realised", values.show(lower)));
        }
    }
    Ok(Verdict::of(!realised.is_empty(), "nothing is in the meaning"))
}
