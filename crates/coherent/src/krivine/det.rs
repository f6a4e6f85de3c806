//! The deterministic machine: runs, with coins as branches.

use dashu_ratio::RBig;

use crate::krivine::state::State;
use crate::krivine::step::{Next, Sums, step};
use crate::outcome::{Limits, Mass, Outcome, Shortage};
use crate::syntax::{Bit, Program, Term, Terms};

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The outcome.
    pub outcome: Outcome,
    /// How many steps it took.
    pub steps: u64,
}

/// What keeps a state that is no value from its next step, if something does. Terms that it does not need are thrown away now and then.
pub fn shortage(terms: &mut Terms, state: &mut State, limits: Limits, steps: u64) -> Option<Shortage> {
    if terms.is_full() {
        terms.keep(state.terms_mut());
    }
    limits.shortage(steps, terms.bytes() + state.bytes()).filter(|_| !state.is_value(terms))
}

/// The leaf of a program without coins at the end of a path.
pub fn run(program: &Program, path: &[Bit], limits: Limits) -> Run {
    let terms = &mut program.terms.clone();
    let mut state = State::start(program.main, path);
    let mut steps = 0;
    loop {
        if let Some(shortage) = shortage(terms, &mut state, limits, steps) {
            return Run { outcome: Outcome::Short(shortage), steps };
        }
        let ticks = state.ticks;
        match step(terms, state, Sums::Cells).next {
            Next::State(next) => state = next,
            Next::Value(value) => return Run { outcome: Outcome::Value { value, ticks }, steps },
            Next::Zero => return Run { outcome: Outcome::Empty, steps: steps + 1 },
            Next::Overflow => return Run { outcome: Outcome::Short(Shortage::Overflow), steps: steps + 1 },
            Next::Coin(..) => unreachable!("a program without coins flips none"),
            Next::Sum(..) => unreachable!("cells stand for sums"),
        }
        steps += 1;
    }
}

/// A path that waits for its turn.
struct Path {
    state: State,
    weight: RBig,
    steps: u64,
    flips: u64,
}

/// The distribution of the leaf of a program at the end of a path (section 10).
///
/// Each coin branches, the outcome 0 first; a branch of probability 0 is not explored.
pub fn distribution(program: &Program, path: &[Bit], limits: Limits, coins: u64) -> Result<Mass, Shortage> {
    let terms = &mut program.terms.clone();
    let mut mass = Mass::default();
    let state = State::start(program.main, path);
    let mut waiting = vec![Path { state, weight: RBig::ONE, steps: 0, flips: 0 }];
    while let Some(Path { mut state, weight, mut steps, flips }) = waiting.pop() {
        let held: u64 = waiting.iter().map(|path| path.state.bytes()).sum();
        loop {
            if terms.is_full() {
                let others = waiting.iter_mut().flat_map(|path| path.state.terms_mut());
                terms.keep(state.terms_mut().chain(others));
            }
            match limits.shortage(steps, terms.bytes() + state.bytes() + held) {
                Some(Shortage::Fuel(_)) if !state.is_value(terms) => {
                    mass.unresolved += weight;
                    break;
                }
                None | Some(Shortage::Fuel(_)) => {}
                Some(shortage) => return Err(shortage),
            }
            let ticks = state.ticks;
            match step(terms, state, Sums::Cells).next {
                Next::State(next) => state = next,
                Next::Value(value) => {
                    mass.add(value, &weight, &weight * RBig::from(ticks));
                    break;
                }
                Next::Zero => {
                    mass.none += weight;
                    break;
                }
                Next::Overflow => return Err(Shortage::Overflow),
                Next::Coin(..) if flips == coins => {
                    mass.unresolved += weight;
                    break;
                }
                Next::Coin(probability, before) => {
                    let heads = terms.probability(probability).clone();
                    let tails = RBig::ONE - &heads;
                    for (side, share) in [(1, tails), (0, heads)] {
                        if share != RBig::ZERO {
                            let state = State { term: terms.add(Term::Num(side)), ..before.clone() };
                            let (weight, steps, flips) = (&weight * share, steps + 1, flips + 1);
                            waiting.push(Path { state, weight, steps, flips });
                        }
                    }
                    break;
                }
                Next::Sum(..) => unreachable!("cells stand for sums"),
            }
            steps += 1;
        }
    }
    Ok(mass)
}
