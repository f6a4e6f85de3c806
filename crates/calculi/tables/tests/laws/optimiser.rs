//! The optimiser keeps meanings (P13; Lemma 4.1) and results (Theorem 4.2).

use eddy_tables::ask::Answer;
use eddy_tables::dialect::Dialect;
use eddy_tables::optimise::optimise;
use eddy_tables::print;
use eddy_tables::run::RunError;
use eddy_tables::syntax::Program;
use eddy_tables::value::Values;
use eddy_tests::choices::Choices;
use eddy_tests::law::Coverage;

use crate::generate::lam;
use crate::generate::simple::{self, Ty};
use crate::harness::{Trial, Verdict, ask, law, program, run, some_of, universe};

fn optimised(text: &str, depth: u32) -> Option<Program> {
    let mut program = program(Dialect::Lambda, text);
    let main = optimise(&mut program, depth).ok()?;
    Some(Program { main, ..program })
}

/// P13, meanings: ask(e,v) = ask(O[e]k,v).
#[test]
fn p13_the_optimiser_preserves_denotations() {
    let sample = |choices: &mut Choices<'_>| {
        let text = lam::reducible(choices);
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
        goals.push(values.int(2));
        let (mut is_changed, mut is_inhabited) = (false, false);
        for depth in 0..=4 {
            let Some(after) = optimised(text, depth) else { return Ok(Verdict::Vacuous("too large")) };
            is_changed |= is_optimised(&before, &after);
            for value in &goals {
                let answers = (ask(&before, *value, &mut values), ask(&after, *value, &mut values));
                let are_known = answers.0 != Answer::Unknown && answers.1 != Answer::Unknown;
                is_inhabited |= answers.0 == Answer::Yes;
                if are_known && answers.0 != answers.1 {
                    let shown = print::show(&after.terms, after.main);
                    return Err(format!(
                        "depth {depth}: {shown}: {} is answered {answers:?}",
                        values.show(*value)
                    ));
                }
            }
        }
        Ok(match (is_changed, is_inhabited) {
            (true, true) => Verdict::Holds,
            (false, _) => Verdict::Vacuous("nothing to optimise"),
            (true, false) => Verdict::Vacuous("nothing is in the meaning"),
        })
    });
}

/// P13, results: the optimised form of a program has the same result or is stuck in the same way; it may need
/// less fuel.
#[test]
fn p13_the_optimiser_preserves_results() {
    law("P13, results", 1500, lam::reducible, |text| keeps_result(text));
}

/// The same where a careless inlining captures. All programs have type `int`, so that a wrong variable is a
/// wrong number.
#[test]
fn p13_inlining_captures_no_variable() {
    let coverage = Coverage::default();
    law("P13, capture", 1000, would_capture, |(text, is_captured)| {
        if *is_captured {
            coverage.note("captured if inlined");
        }
        keeps_result(text)
    });
    coverage.require("P13, capture", 100, ["captured if inlined"]);
}

/// `(λa. (λb. λc. …b…c…) (λd. …a…)) m n`: the argument depends on its context. Its `a`
/// would be captured where c is a.
fn would_capture(choices: &mut Choices<'_>) -> (String, bool) {
    let [a, d] = [choices.among(&simple::NAMES), choices.among(&simple::NAMES)];
    let (b, c) = choices.among(&[("x", "y"), ("x", "z"), ("y", "x"), ("y", "z"), ("z", "x"), ("z", "y")]);
    let mut scope = vec![(a, Ty::Int), (d, Ty::Int)];
    let argument = format!("{a} * 3 + {}", simple::term(choices, &Ty::Int, 2, &mut scope));
    let mut scope = vec![(a, Ty::Int), (b, Ty::arrow(Ty::Int, Ty::Int)), (c, Ty::Int)];
    let body = format!("{b} {c} + {}", simple::term(choices, &Ty::Int, 2, &mut scope));
    let (m, n) = (choices.below(4), choices.below(4));
    let text = format!("(\\{a}. (\\{b}. \\{c}. {body}) (\\{d}. {argument})) {m} {n}");
    (text, a == c && a != d && m != n)
}

/// `(λy. (λx. λy. x 0 + y) (λz. y)) 1 2`, in other names: the function `λz. y` must not be inlined, as its
/// `y` would be captured.
#[test]
fn p13_a_function_that_is_not_closed_is_not_inlined() {
    for [x, y, z] in [["x", "y", "z"], ["z", "x", "y"], ["f", "n", "m"]] {
        let text = format!("(\\{y}. (\\{x}. \\{y}. {x} 0 + {y}) (\\{z}. {y})) 1 2");
        assert_eq!(run(&program(Dialect::Lambda, &text)), Ok("3".to_string()), "{text}");
        for depth in 0..=4 {
            let after = optimised(&text, depth).expect("a small program");
            let shown = print::show(&after.terms, after.main);
            assert_eq!(run(&after), Ok("3".to_string()), "depth {depth}: {shown}");
        }
        let open = format!("\\{y}. (\\{x}. \\{y}. {x} 0 + {y}) (\\{z}. {y})");
        let after = optimised(&open, 4).expect("a small program");
        assert_eq!(
            print::show(&after.terms, after.main),
            print::show(&program(Dialect::Lambda, &open).terms, program(Dialect::Lambda, &open).main)
        );
    }
}

fn keeps_result(text: &str) -> Trial {
    let before = program(Dialect::Lambda, text);
    let expected = run(&before);
    if let Err(RunError::Fuel(_) | RunError::Memory(_)) = expected {
        return Ok(Verdict::Vacuous("out of fuel"));
    }
    let mut is_changed = false;
    for depth in 0..=4 {
        let Some(after) = optimised(text, depth) else { return Ok(Verdict::Vacuous("too large")) };
        is_changed |= is_optimised(&before, &after);
        let found = run(&after);
        let agree = match (&expected, &found) {
            (Err(RunError::Stuck(_, why)), Err(RunError::Stuck(_, other))) => why == other,
            _ => expected == found,
        };
        if !agree {
            let shown = print::show(&after.terms, after.main);
            return Err(format!("depth {depth}: {shown}: {found:?} instead of {expected:?}"));
        }
    }
    Ok(Verdict::of(is_changed, "nothing to optimise"))
}

/// Whether the optimiser changed the program.
fn is_optimised(before: &Program, after: &Program) -> bool {
    print::show(&before.terms, before.main) != print::show(&after.terms, after.main)
}
