//! Meaning is a congruence, so terms with equal meanings run alike (P12; Lemma 3.13, Theorem 3).
//!
//! The terms are open, and contexts capture their variables.

use eddy_tables::ask::Answer;
use eddy_tables::dialect::Dialect;
use eddy_tables::optimise::optimise;
use eddy_tables::print;
use eddy_tables::run::RunError;
use eddy_tables::syntax::{Term, TermId, Terms};
use eddy_tables::value::{Entry, Value, Values};
use eddy_tests::choices::Choices;
use eddy_tests::law::Coverage;

use crate::generate::simple::{self, Ty};
use crate::harness::{Verdict, ask, law, program, run};

/// A term with the variables x and y, one with the same meaning, and a context around a hole. All have type
/// `int`.
#[derive(Debug)]
struct Sample {
    term: String,
    other: String,
    context: String,
}

fn sample(choices: &mut Choices<'_>) -> Sample {
    let mut scope = vec![("x", Ty::Int), ("y", Ty::Int)];
    let mut int = |choices: &mut Choices<'_>, depth| simple::term(choices, &Ty::Int, depth, &mut scope);
    let (left, right) = (int(choices, 2), int(choices, 3));
    // It contains a variable of the scope, so that the context matters.
    let variable = choices.among(&["x", "y"]);
    let term = format!("({left} + ({variable} * {right}))");
    let other = match choices.below(6) {
        0 => format!("((\\w. {term}) 0)"),
        1 => format!("(if 1 then {term} else 0)"),
        2 => format!("((\\w. w) {term})"),
        3 => format!("(({variable} * {right}) + {left})"),
        4 => format!("((\\v. \\w. v + w) {left} ({variable} * {right}))"),
        _ => optimised(&term),
    };
    Sample { term, other, context: context(choices, 3) }
}

/// The optimised form of a term with the variables x and y.
fn optimised(term: &str) -> String {
    fn body(terms: &Terms, id: TermId) -> TermId {
        match terms.term(id) {
            Term::Lambda(_, body) => *body,
            _ => unreachable!("the optimiser keeps a λ"),
        }
    }
    let mut program = program(Dialect::Lambda, &format!("\\x. \\y. {term}"));
    match optimise(&mut program, 3) {
        Ok(function) => {
            let inner = body(&program.terms, body(&program.terms, function));
            format!("({})", print::show(&program.terms, inner))
        }
        Err(_) => term.to_string(),
    }
}

/// A context of type `int` that binds x and y, with `HOLE` for its hole: also inside of functions and of `if`
/// (R4).
fn context(choices: &mut Choices<'_>, depth: u32) -> String {
    let inner = inside(choices, depth);
    let (x, y) = (choices.below(3), choices.below(3));
    format!("((\\x. \\y. {inner}) {x} {y})")
}

fn inside(choices: &mut Choices<'_>, depth: u32) -> String {
    let mut scope = vec![("x", Ty::Int), ("y", Ty::Int)];
    if depth == 0 {
        return "HOLE".to_string();
    }
    let other = simple::term(choices, &Ty::Int, 2, &mut scope);
    let name = choices.among(&["x", "y"]);
    let inner = inside(choices, depth - 1);
    match choices.below(7) {
        0 => format!("({inner} + {other})"),
        1 => format!("({other} - {inner})"),
        2 => format!("(if {inner} then {other} else 3)"),
        3 => format!("(if {other} then {inner} else {name})"),
        // The hole is under a binder that captures a variable of the term.
        4 => format!("((\\{name}. {inner}) {other})"),
        5 => format!("((\\f. f {other} + f 2) (\\{name}. {inner}))"),
        _ => format!("((\\f. \\{name}. f {name}) (\\{name}. {inner}) {other})"),
    }
}

/// P12: open terms with equal meanings run alike in every context.
#[test]
fn p12_equal_meanings_run_alike_in_every_context() {
    let coverage = Coverage::default();
    law("P12", 1500, sample, |sample| {
        have_equal_meanings(sample)?;
        let [one, other] = [&sample.term, &sample.other]
            .map(|text| run(&program(Dialect::Lambda, &sample.context.replace("HOLE", text))));
        match (one, other) {
            (Err(RunError::Fuel(_)), _) | (_, Err(RunError::Fuel(_))) => Ok(Verdict::Vacuous("out of fuel")),
            (Err(_), Err(_)) => Ok(Verdict::Vacuous("both are stuck")),
            (one, other) if one != other => Err(format!("{one:?} and {other:?}")),
            (_, _) => {
                let is_bound_again =
                    sample.context.matches("\\x").count() > 1 || sample.context.matches("\\y").count() > 1;
                coverage.note(if is_bound_again { "captured twice" } else { "captured once" });
                Ok(Verdict::of(sample.term != sample.other, "the same term"))
            }
        }
    });
    coverage.require("P12", 100, ["captured once", "captured twice"]);
}

/// `E[e]ρ = E[e']ρ`, asked of `λx. λy. e` with tables over 0 and 1.
fn have_equal_meanings(sample: &Sample) -> Result<(), String> {
    let [one, other] =
        [&sample.term, &sample.other].map(|text| program(Dialect::Lambda, &format!("\\x. \\y. {text}")));
    let mut values = Values::default();
    for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        for result in -1..4 {
            let goal = curried(&mut values, x, y, result);
            let answers = (ask(&one, goal, &mut values), ask(&other, goal, &mut values));
            if answers.0 != answers.1 && answers.0 != Answer::Unknown && answers.1 != Answer::Unknown {
                return Err(format!("{} is answered {answers:?}", values.show(goal)));
            }
        }
    }
    Ok(())
}

/// `{x -> {y -> result}}`.
fn curried(values: &mut Values, x: i64, y: i64, result: i64) -> Value {
    let [x, y, result] = [x, y, result].map(|n| values.int(n));
    let inner = values.table(vec![Entry::new(y, result)]);
    values.table(vec![Entry::new(x, inner)])
}
