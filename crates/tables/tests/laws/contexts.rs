//! Meaning is a congruence, so equal meanings cannot be told apart by running (P12; Lemma 3.13, Theorem 3).

use eddy_tables::ask::Answer;
use eddy_tables::dialect::Dialect;
use eddy_tables::optimise::optimise;
use eddy_tables::print;
use eddy_tables::run::Failure;
use eddy_tables::value::Values;
use eddy_tests::choices::Choices;

use crate::generate::lam;
use crate::harness::{Verdict, ask, law, program, run, universe};

/// A closed term, one with the same meaning, and a context around a hole.
fn sample(choices: &mut Choices<'_>) -> (String, String, String) {
    let term = lam::open_term(choices, 3, &mut Vec::new());
    let other = match choices.below(4) {
        0 => format!("((\\w. {term}) 0)"),
        1 => format!("(if 1 then {term} else 0)"),
        2 => format!("((\\w. w) {term})"),
        _ => {
            let mut program = program(Dialect::Lambda, &term);
            match optimise(&mut program, 2) {
                Ok(optimised) => format!("({})", print::show(&program.terms, optimised)),
                Err(_) => term.clone(),
            }
        }
    };
    (term, other, context(choices, 3))
}

/// A context, with `HOLE` for its hole: also the empty one, and `if` (R4).
fn context(choices: &mut Choices<'_>, depth: u32) -> String {
    if depth == 0 {
        return "HOLE".to_string();
    }
    let other = lam::open_term(choices, 2, &mut Vec::new());
    let inner = |choices: &mut Choices<'_>| context(choices, depth - 1);
    match choices.below(9) {
        0 => "HOLE".to_string(),
        1 => format!("({} + {other})", inner(choices)),
        2 => format!("({other} + {})", inner(choices)),
        3 => format!("(\\x. {})", inner(choices)),
        4 | 5 => format!("({} {other})", inner(choices)),
        6 => format!("({other} {})", inner(choices)),
        7 => format!("(if {} then {other} else 0)", inner(choices)),
        _ => format!("(if {other} then {} else 1)", inner(choices)),
    }
}

/// P12: terms with equal answers run alike in every context.
#[test]
fn p12_equal_meanings_run_alike_in_every_context() {
    law("P12", 1500, sample, |(term, other, context)| {
        let [first, second] = [term, other].map(|text| program(Dialect::Lambda, text));
        let mut values = Values::default();
        for value in universe(Dialect::Lambda, 3, &mut values) {
            let answers = (ask(&first, value, &mut values), ask(&second, value, &mut values));
            if answers.0 != answers.1 && answers.0 != Answer::Unknown && answers.1 != Answer::Unknown {
                return Err(format!("{} is answered {answers:?}", values.show(value)));
            }
        }
        let outcomes =
            [term, other].map(|text| run(&program(Dialect::Lambda, &context.replace("HOLE", text))));
        match outcomes {
            [Err(Failure::Fuel(_)), _] | [_, Err(Failure::Fuel(_))] => Ok(Verdict::Skipped("out of fuel")),
            [Err(_), Err(_)] => Ok(Verdict::Holds),
            [a, b] if a == b => Ok(Verdict::Holds),
            [a, b] => Err(format!("{a:?} and {b:?}")),
        }
    });
}
