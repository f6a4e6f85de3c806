//! A number is typable iff the machine reaches it (Theorem 7.13), as far as bounds allow to know.

use std::cell::Cell;

use eddy_coherent::outcome::Outcome;
use eddy_coherent::relation::store::{Letter, Point};
use eddy_coherent::relation::{Answer, Bounds, ask};

use crate::harness::{Verdict, at_least, det, law, leaves, program};

/// The bounds with which every value of the specification's trials was found.
const BOUNDS: Bounds = Bounds { copies: 3, unfold: 4, work: 100_000 };

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
                    if number.unknown.is_some() || number.offset != value {
                        return Err(format!("at {path:?}: the machine says {value}, the types {number:?}"));
                    }
                    found.set(found.get() + 1);
                    says_something = true;
                }
                (Outcome::Value { value, .. }, Answer::No) => {
                    return Err(format!("at {path:?}: {value} is not typable"));
                }
                (Outcome::Value { .. }, Answer::Unknown) => missed.set(missed.get() + 1),
                (Outcome::Empty, Answer::Yes(_)) => {
                    return Err(format!("at {path:?}: typable, and not there"));
                }
                (Outcome::Empty, Answer::No | Answer::Unknown) => says_something = true,
                // A machine without fuel has not spoken; a derivation says that it would.
                (Outcome::Short(_), _) => {}
            }
        }
        Ok(if says_something { Verdict::Holds } else { Verdict::Skipped("nothing is known") })
    });
    at_least("derivations found", 100, found.get());
    // A value must be found once the bounds are large enough. On these programs they are.
    assert_eq!(missed.get(), 0, "values that were not found");
}
