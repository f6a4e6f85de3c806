//! A number is typable iff the machine reaches it (Theorem 7.13), as far as bounds allow to know: for programs, and for the states of
//! their runs.

use std::cell::Cell;

use eddy_coherent::krivine::state::State;
use eddy_coherent::krivine::step::{Next, Sums, step};
use eddy_coherent::outcome::Outcome;
use eddy_coherent::relation::states::ask_state;
use eddy_coherent::relation::store::{Letter, Point};
use eddy_coherent::relation::{Answer, Bounds, ask};

use crate::harness::{Verdict, at_least, det, law, leaves, program};
use crate::machines::whole_tree;

/// The bounds with which every value of the specification's trials was found.
const BOUNDS: Bounds = Bounds { copies: 3, unfold: 4, work: 100_000, memory: 64 << 20 };

#[test]
fn typable_iff_the_machine_reaches_it_theorem_7_13() {
    let (found, missed) = (Cell::new(0), Cell::new(0));
    law("Theorem 7.13", 500, program, |sample| {
        let mut says_something = false;
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
                    says_something = true;
                }
                (Outcome::Value { value, .. }, Answer::No) => {
                    return Err(format!("at {path:?}: {value} is not typable"));
                }
                (Outcome::Value { .. }, Answer::Unknown(_)) => missed.set(missed.get() + 1),
                (Outcome::Empty, Answer::Yes(_)) => {
                    return Err(format!("at {path:?}: typable, and not there"));
                }
                (Outcome::Empty, Answer::No | Answer::Unknown(_)) => says_something = true,
                // A machine without fuel has not spoken; a derivation says that it would.
                (Outcome::Short(_), _) => {}
            }
        }
        Ok(if says_something { Verdict::Holds } else { Verdict::Vacuous("nothing is known") })
    });
    at_least("derivations found", 100, found.get());
    // A value must be found once the bounds are large enough. On these programs they are.
    assert_eq!(missed.get(), 0, "values that were not found");
}

/// So many states of a run are asked.
const STATES: usize = 12;

#[test]
fn states_are_typable_iff_they_reach_it_theorem_7_13() {
    let (found, missed) = (Cell::new(0), Cell::new(0));
    law("Theorem 7.13, states", 300, program, |sample| {
        for path in leaves(&sample.program) {
            let mut terms = sample.program.terms.clone();
            let mut states = vec![State::start(sample.program.main, &path)];
            for _ in 0..STATES {
                let Some(state) = states.pop() else { break };
                // Theorem 7.5: one number at most.
                let reached =
                    whole_tree(&mut terms.clone(), state.clone()).map(|values| values.first().copied());
                let (answer, point) = ask_state(&terms, &state, BOUNDS);
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
        Ok(Verdict::Holds)
    });
    at_least("derivations found", 500, found.get());
    assert_eq!(missed.get(), 0, "values that were not found");
}
