//! The declarative semantics against the operational ones.

use eddy_tables::ask::Answer;
use eddy_tables::dialect::Dialect;
use eddy_tables::print;
use eddy_tables::run::{Limits, RunError};
use eddy_tables::step::Configuration;
use eddy_tables::syntax::{Program, Term};
use eddy_tables::value::{Value, Values};

use eddy_tests::choices::Choices;

use crate::generate::{lam, references, systemf};
use crate::harness::{RUN_LIMITS, Trial, Verdict, ask, law, program, run, some_of, universe};

/// P1, Theorem 1 (sound): a program that means `n` evaluates to `n`. P2, Theorem 2 (complete): a program that
/// evaluates to `n` means `n` and nothing else.
#[test]
fn p1_p2_integers_are_what_programs_evaluate_to() {
    law("P1, P2", 3000, lam::mixed, |text| agrees_with_run(&program(Dialect::Lambda, text)));
}

/// The same in System F, where divisions by zero and recursion have empty meaning.
#[test]
fn p1_p2_in_system_f() {
    let sample = |choices: &mut Choices<'_>| systemf::term_of(choices, &systemf::Ty::Int, 5);
    law("P1, P2 in System F", 1500, sample, |text| agrees_with_run(&program(Dialect::SystemF, text)));
}

fn agrees_with_run(program: &Program) -> Trial {
    if program.terms.is_value(program.main) {
        return Ok(Verdict::Vacuous("a value"));
    }
    let mut values = Values::default();
    let empty = values.table(Vec::new());
    let numbers: Vec<(String, Value)> = (-2..4).map(|n| (n.to_string(), values.int(n))).collect();
    match run(program) {
        Ok(result) => {
            let is_int = result.parse::<i64>().is_ok();
            for (text, number) in numbers {
                let expected = if text == result { Answer::Yes } else { Answer::No };
                let found = ask(program, number, &mut values);
                if found != expected {
                    return Err(format!("runs to {result}, and {text} is answered {found:?}"));
                }
            }
            if is_int && ask(program, empty, &mut values) != Answer::No {
                return Err(format!("runs to {result}, and an empty table is not refused"));
            }
            if result == "<fun>" && ask(program, empty, &mut values) != Answer::Yes {
                return Err("a function has no empty table".into());
            }
            Ok(Verdict::Holds)
        }
        Err(RunError::Stuck(..)) => {
            // Neither an integer nor a table: the meaning is empty.
            for value in numbers.into_iter().map(|(_, value)| value).chain([empty]) {
                if ask(program, value, &mut values) != Answer::No {
                    return Err("a stuck program has a meaning".into());
                }
            }
            Ok(Verdict::Holds)
        }
        Err(_) => {
            for value in numbers.into_iter().map(|(_, value)| value).chain([empty]) {
                if ask(program, value, &mut values) == Answer::Yes {
                    return Err("a program that does not end has a meaning".into());
                }
            }
            Ok(Verdict::Vacuous("out of fuel"))
        }
    }
}

/// P9, Corollary 3.10: meaning is invariant under reduction.
#[test]
fn p9_meaning_is_invariant_along_a_trace() {
    law(
        "P9",
        800,
        |choices| (lam::reducible(choices), seeds(choices)),
        |(text, seeds)| invariant(&program(Dialect::Lambda, text), 4, seeds),
    );
    let sample = |choices: &mut Choices<'_>| match choices.below(2) {
        0 => (systemf::term(choices).0, seeds(choices)),
        _ => (systemf::term_of(choices, &systemf::Ty::Int, 4), seeds(choices)),
    };
    law("P9 in System F", 500, sample, |(text, seeds)| invariant(&program(Dialect::SystemF, text), 3, seeds));
}

fn seeds(choices: &mut Choices<'_>) -> Vec<u16> {
    (0..12).map(|_| u16::try_from(choices.below(1 << 16)).expect("16 bits")).collect()
}

fn invariant(program: &Program, size: usize, seeds: &[u16]) -> Trial {
    let mut values = Values::default();
    let all = universe(program.dialect, size, &mut values);
    let mut sample = some_of(&all, &mut Choices::new(seeds), 6);
    sample.extend((-1..3).map(|n| values.int(n)));
    sample.push(values.table(Vec::new()));
    let answers = |program: &Program, values: &mut Values| -> Vec<Answer> {
        sample.iter().map(|value| ask(program, *value, values)).collect()
    };
    let before = answers(program, &mut values);
    let mut configuration = Configuration::new(program);
    let mut is_reduced = false;
    for _ in 0..8 {
        if configuration.step() != Ok(true) {
            break;
        }
        is_reduced = true;
        let whole = configuration.whole();
        let after = Program { main: whole, terms: configuration.terms.clone(), ..program.clone() };
        for ((value, before), after_) in sample.iter().zip(&before).zip(answers(&after, &mut values)) {
            // A step uses a part of the budget: only definite answers can be compared.
            let is_known = *before != Answer::Unknown && after_ != Answer::Unknown;
            if is_known && *before != after_ {
                let shown = print::show(&after.terms, after.main);
                return Err(format!(
                    "{} is {before:?} and, after steps to {shown}, {after_:?}",
                    values.show(*value)
                ));
            }
        }
    }
    if !is_reduced {
        return Ok(Verdict::Vacuous("no step"));
    }
    // An empty meaning stays empty for any step, so the sample is vacuous.
    Ok(Verdict::of(before.contains(&Answer::Yes), "nothing is in the meaning"))
}

/// P10, Proposition 3.11: diverging programs have empty meaning, which no budget can establish.
#[test]
fn p10_divergence_is_never_answered() {
    law("P10", 300, lam::diverging, |text| {
        let program = program(Dialect::Lambda, text);
        if !matches!(run(&program), Err(RunError::Fuel(_))) {
            return Ok(Verdict::Vacuous("it gets stuck first"));
        }
        let mut values = Values::default();
        for value in universe(Dialect::Lambda, 3, &mut values) {
            match ask(&program, value, &mut values) {
                Answer::Unknown => {}
                answer => return Err(format!("{} is answered {answer:?}", values.show(value))),
            }
        }
        Ok(Verdict::Holds)
    });
}

/// P11, Proposition 3.12: closed values have a member.
#[test]
fn p11_values_have_meanings() {
    law("P11", 500, lam::lambda, |text| {
        let program = program(Dialect::Lambda, text);
        let mut values = Values::default();
        let empty = values.table(Vec::new());
        match ask(&program, empty, &mut values) {
            Answer::Yes => Ok(Verdict::Holds),
            answer => Err(format!("the empty table is answered {answer:?}")),
        }
    });
}

/// P20: the two runners agree.
#[test]
fn p20_big_steps_and_small_steps_agree() {
    law("P20", 2000, lam::reducible, |text| runners_agree(&program(Dialect::Lambda, text)));
    law(
        "P20 in System F",
        1000,
        |choices| systemf::term(choices).0,
        |text| runners_agree(&program(Dialect::SystemF, text)),
    );
    law("P20 with references", 1000, references::term, |text| {
        runners_agree(&program(Dialect::References, text))
    });
}

fn runners_agree(program: &Program) -> Trial {
    let mut configuration = Configuration::new(program);
    let mut steps = 0;
    let small = loop {
        match configuration.step() {
            Ok(true) if steps == 10 * RUN_LIMITS.fuel || configuration.terms.len() > 1 << 17 => {
                return Ok(Verdict::Vacuous("out of fuel"));
            }
            Ok(true) => steps += 1,
            Ok(false) => {
                let whole = configuration.whole();
                break Ok(shown(&configuration, whole));
            }
            Err(failure) => break Err(failure),
        }
    };
    match (run(program), small) {
        (Err(RunError::Fuel(_) | RunError::Memory(_)), _) => Ok(Verdict::Vacuous("out of fuel")),
        (big, small) if big == small => Ok(Verdict::of(steps > 0, "no step")),
        (big, small) => Err(format!("big steps {big:?}, small steps {small:?}")),
    }
}

/// The text of a value for `run`.
fn shown(configuration: &Configuration, value: eddy_tables::syntax::TermId) -> String {
    match configuration.terms.term(value) {
        Term::Lambda(..) => "<fun>".to_string(),
        Term::TypeLambda(_) => "<thunk>".to_string(),
        Term::Pair(first, second) => {
            format!("({}, {})", shown(configuration, *first), shown(configuration, *second))
        }
        _ => print::show(&configuration.terms, value),
    }
}

/// The collector keeps all reachable cells: a long list is made among garbage, and summed.
#[test]
fn reachable_cells_are_kept() {
    let text = "let make = (\\f. f f) (\\f. \\l. \\n. if n then f f (\\k. k n l) ((\\g. g 1 - 1) (\\u. n * u)) else l) in
                let sum = (\\f. f f) (\\f. \\l. \\s. \\n. if n then l (\\h. \\t. f f t (s + h) (n - 1)) else s) in
                sum (make 0 30000) 0 30000";
    let program = program(Dialect::Lambda, text);
    for memory in [16 << 20, 64 << 20] {
        let (outcome, _) = eddy_tables::run::run(&program, Limits { fuel: u64::MAX, memory });
        assert_eq!(outcome.map(|shown| shown.0), Ok("450015000".to_string()));
    }
}
