//! A number is typable iff the machine reaches it (Theorem 7.13), where the bounds allow an answer: for
//! programs, and for the states of their runs.

use std::cell::Cell;

use eddy_coherent::krivine::state::State;
use eddy_coherent::krivine::step::{Next, Sums, step};
use eddy_coherent::outcome::Outcome;
use eddy_coherent::relation::states::ask_state;
use eddy_coherent::relation::store::{Letter, Point};
use eddy_coherent::relation::{Answer, Bounds, ask, point};
use eddy_coherent::syntax::{Op, Program, Term};
use eddy_coherent::types::Type;
use eddy_tests::law::Coverage;

use crate::generate::{Generator, Sample, With};
use crate::harness::{Verdict, at_least, det, law, leaves, program, with_main};
use crate::machines::whole_tree;
use crate::rules::often_a_number;

/// The bounds with which every value of the specification's trials was found.
const BOUNDS: Bounds = Bounds { copies: 3, unfold: 4, work: 100_000, memory: 64 << 20 };

#[test]
fn typable_iff_the_machine_reaches_it_theorem_7_13() {
    let (found, missed) = (Cell::new(0), Cell::new(0));
    law("Theorem 7.13", 500, program, |sample| {
        let mut is_informative = false;
        for path in leaves(&sample.program) {
            // Any number at this leaf.
            let (answer, _) = ask(&sample.program, BOUNDS, |store| {
                let word = path.iter().map(|bit| Letter::Known(*bit)).collect();
                let number = store.fresh_number();
                store.add(Point { sets: Vec::new(), word, number })
            });
            let machine = det(&sample.program, &path).outcome;
            match (machine, &answer) {
                (Outcome::Value { value, .. }, Answer::Yes(proof)) => {
                    let number = proof.store.number(proof.store.point(proof.judgements[0].point).number);
                    if number.unknown.is_some() || number.offset != value.into() {
                        return Err(format!("at {path:?}: the machine says {value}, the types {number:?}"));
                    }
                    found.set(found.get() + 1);
                    is_informative = true;
                }
                (Outcome::Value { value, .. }, Answer::No) => {
                    return Err(format!("at {path:?}: {value} is not typable"));
                }
                (Outcome::Value { .. }, Answer::Unknown(_)) => missed.set(missed.get() + 1),
                (Outcome::Empty, Answer::Yes(_)) => {
                    return Err(format!("at {path:?}: typable, and not there"));
                }
                (Outcome::Empty, Answer::No | Answer::Unknown(_)) => is_informative = true,
                // A machine without fuel gives no answer; a derivation says that it would reach the number.
                (Outcome::Exhausted(_), _) => {}
            }
        }
        Ok(if is_informative { Verdict::Holds } else { Verdict::Vacuous("nothing is known") })
    });
    at_least("derivations found", 100, found.get());
    // A value must be found once the bounds are large enough. On these programs they are.
    assert_eq!(missed.get(), 0, "values that were not found");
}

/// Bounds for the few states that need more.
const LARGE_BOUNDS: Bounds = Bounds { copies: 6, unfold: 8, work: 2_000_000, memory: 256 << 20 };

/// The number of states of a run to check.
const STATES: usize = 12;

#[test]
fn states_are_typable_iff_they_reach_it_theorem_7_13() {
    let (found, missed) = (Cell::new(0), Cell::new(0));
    law("Theorem 7.13, states", 300, often_a_number, |sample| {
        let found_before = found.get();
        for path in leaves(&sample.program) {
            let mut terms = sample.program.terms.clone();
            let mut states = vec![State::start(sample.program.main, &path)];
            for _ in 0..STATES {
                let Some(state) = states.pop() else { break };
                // Theorem 7.5: one number at most.
                let reached =
                    whole_tree(&mut terms.clone(), state.clone()).map(|values| values.first().copied());
                let (mut answer, mut point) = ask_state(&terms, &state, BOUNDS);
                if let (Some(Some(_)), Answer::Unknown(_)) = (reached, &answer) {
                    (answer, point) = ask_state(&terms, &state, LARGE_BOUNDS);
                }
                match (reached, answer) {
                    (Some(value), Answer::Yes(proof)) => {
                        let number = proof.store.number(proof.store.point(point).number);
                        if number.unknown.is_some() || Some(number.offset) != value.map(u128::from) {
                            return Err(format!("{state} reaches {value:?}, and has the type {number:?}"));
                        }
                        found.set(found.get() + 1);
                    }
                    (Some(Some(value)), Answer::No) => {
                        return Err(format!("{state} reaches {value}, and has no type"));
                    }
                    (Some(Some(_)), Answer::Unknown(_)) => missed.set(missed.get() + 1),
                    (Some(None) | None, _) => {}
                }
                match step(&mut terms, state, Sums::Both).next {
                    Next::State(next) => states.push(next),
                    Next::Sum(first, second) => states.extend([first, second]),
                    _ => {}
                }
            }
        }
        Ok(Verdict::of(found.get() > found_before, "no derivation"))
    });
    at_least("derivations found", 500, found.get());
    assert_eq!(missed.get(), 0, "values that were not found");
}

/// Points of a function and of its derivative (Theorem 6.12): `[a, …] -> b` with the letter 0 everywhere, and
/// with the letter 1 at the result and at one of the arguments. With two letters 1 among the arguments, or
/// one at the arguments alone, it is not a point.
#[test]
fn points_of_derivatives_theorem_6_12() {
    let coverage = Coverage::default();
    law("Theorem 6.12", 200, function, |sample| {
        let mut derived = sample.program.clone();
        let main = derived.terms.add(Term::Derive(sample.program.main));
        let ty = derived.terms.types.arrow(Type::ground(1), Type::ground(1));
        derived = with_main(&derived, main, ty);
        let mut is_tried = false;
        for arguments in [&[][..], &[0], &[1], &[0, 0], &[0, 1], &[1, 1], &[0, 0, 1]] {
            for number in 0..4 {
                let point = |letters: &[u8], result: Option<u8>| {
                    let inputs = arguments.iter().enumerate().map(|(at, input)| match letters.get(at) {
                        Some(letter) => format!("{letter}:{input}"),
                        None => input.to_string(),
                    });
                    let result = result.map_or(String::new(), |letter| format!("{letter}:"));
                    format!("[{}]->{result}{number}", inputs.collect::<Vec<_>>().join(","))
                };
                let is_point = has_point(&sample.program, &point(&[], None));
                if is_point != Some(true) {
                    continue;
                }
                is_tried = true;
                let zeros = vec![0; arguments.len()];
                let mut expected = vec![(point(&zeros, Some(0)), true)];
                for at in 0..arguments.len() {
                    let mut letters = zeros.clone();
                    letters[at] = 1;
                    expected.push((point(&letters, Some(1)), true));
                    expected.push((point(&letters, Some(0)), false));
                    coverage.note("a derivative");
                }
                if arguments.len() == 2 {
                    expected.push((point(&[1, 1], Some(1)), false));
                    coverage.note("two letters 1");
                }
                for (point, expected) in expected {
                    if has_point(&derived, &point).is_some_and(|found| found != expected) {
                        return Err(format!(
                            "{point} is {}a point of the derivative",
                            if expected { "no" } else { "" }
                        ));
                    }
                }
            }
        }
        Ok(Verdict::of(is_tried, "no point"))
    });
    coverage.require("Theorem 6.12", 40, ["a derivative", "two letters 1"]);
}

/// A function `nat -> nat` without recursion.
fn function(mut generator: Generator<'_>) -> Sample {
    generator.with = With::default();
    generator.size = 10;
    let main = if generator.choices.once_in(3) {
        generator.lambda(Type::NAT, Type::NAT)
    } else {
        // It uses its argument once or twice.
        let x = generator.add(Term::Var(0));
        let [yes, no] = [(); 2].map(|()| match generator.choices.below(4) {
            0 => generator.add(Term::Num(2)),
            1 => x,
            2 => generator.terms.op(Op::Succ, 0, x),
            _ => generator.terms.op(Op::Pred, 0, x),
        });
        let body = generator.add(Term::If(0, x, yes, no));
        generator.add(Term::Lambda(Type::NAT, body))
    };
    let ty = generator.terms.types.arrow(Type::NAT, Type::NAT);
    generator.finish(main, ty)
}

/// Whether a function has a point; `None` if unknown.
fn has_point(program: &Program, text: &str) -> Option<bool> {
    let types = program.terms.types.clone();
    let (answer, _) = ask(program, BOUNDS, |store| {
        point::parse(text, &types, program.ty, store).unwrap_or_else(|why| panic!("{text}: {why:?}"))
    });
    match answer {
        Answer::Yes(_) => Some(true),
        Answer::No => Some(false),
        Answer::Unknown(_) => None,
    }
}

/// One summand of the nd machine reaches each typable number (Theorem 6.36), and the remaining states then
/// have no type (Theorem 7.6).
#[test]
fn typable_numbers_are_reached_theorems_6_36_and_7_6() {
    let coverage = Coverage::default();
    law("Theorems 6.36 and 7.6", 400, often_a_number, |sample| {
        let mut is_tried = false;
        for path in leaves(&sample.program) {
            let (answer, _) = ask(&sample.program, BOUNDS, |store| {
                let word = path.iter().map(|bit| Letter::Known(*bit)).collect();
                let number = store.fresh_number();
                store.add(Point { sets: Vec::new(), word, number })
            });
            let Answer::Yes(proof) = answer else { continue };
            let typed = proof.store.number(proof.store.point(proof.judgements[0].point).number).offset;
            let mut terms = sample.program.terms.clone();
            let mut states = vec![State::start(sample.program.main, &path)];
            let (mut reached, mut fuel) = (None, 3000);
            while let Some(state) = states.pop().filter(|_| fuel > 0) {
                fuel -= 1;
                match step(&mut terms, state, Sums::Both).next {
                    Next::State(next) => states.push(next),
                    // The last one first: the other summand waits.
                    Next::Sum(first, second) => states.extend([first, second]),
                    Next::Value(value) => {
                        reached = Some(value);
                        break;
                    }
                    _ => {}
                }
            }
            let Some(value) = reached else {
                if fuel > 0 {
                    return Err(format!("at {path:?}: {typed} is typable, and not reached"));
                }
                continue;
            };
            if u128::from(value) != typed {
                return Err(format!("at {path:?}: {typed} is typable, and {value} is reached"));
            }
            is_tried = true;
            for state in &states {
                coverage.note("a state is left");
                if let (Answer::Yes(_), _) = ask_state(&terms, state, BOUNDS) {
                    return Err(format!("{state} has a type, and {value} was reached"));
                }
            }
        }
        Ok(Verdict::of(is_tried, "nothing is typable"))
    });
    coverage.require("Theorems 6.36 and 7.6", 20, ["a state is left"]);
}
