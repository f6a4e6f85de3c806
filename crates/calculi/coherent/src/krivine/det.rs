//! The deterministic machine: runs, with coins as branches.

use dashu_ratio::RBig;

use crate::krivine::state::State;
use crate::krivine::step::{Next, Sums, step};
use crate::outcome::{Distribution, ExhaustedLimit, Limits, Outcome};
use crate::syntax::{Bit, Program, Term, Terms};

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub outcome: Outcome,
    pub steps: u64,
}

/// The exhausted limit, if any, before the next step of a state. Dead terms are collected periodically.
pub fn exhausted(terms: &mut Terms, state: &mut State, limits: Limits, steps: u64) -> Option<ExhaustedLimit> {
    if terms.is_full() {
        terms.keep(state.terms_mut());
    }
    limits.exhausted(steps, terms.bytes() + state.bytes()).filter(|_| !state.is_value(terms))
}

/// The leaf of a program without coins at the end of a path.
pub fn run(program: &Program, path: &[Bit], limits: Limits) -> Run {
    let terms = &mut program.terms.clone();
    let mut state = State::start(program.main, path);
    let mut steps = 0;
    loop {
        if let Some(exhausted) = exhausted(terms, &mut state, limits, steps) {
            return Run { outcome: Outcome::Exhausted(exhausted), steps };
        }
        let ticks = state.ticks;
        match step(terms, state, Sums::Cells).next {
            Next::State(next) => state = next,
            Next::Value(value) => return Run { outcome: Outcome::Value { value, ticks }, steps },
            Next::Zero => return Run { outcome: Outcome::Empty, steps: steps + 1 },
            Next::Overflow => {
                return Run { outcome: Outcome::Exhausted(ExhaustedLimit::Overflow), steps: steps + 1 };
            }
            Next::Coin(..) => unreachable!("a program without coins flips none"),
            Next::Sum(..) => unreachable!("cells stand for sums"),
        }
        steps += 1;
    }
}

/// A pending path.
struct Path {
    state: State,
    weight: RBig,
    steps: u64,
    flips: u64,
}

/// The distribution of the leaf of a program at the end of a path (section 10).
///
/// Each coin branches, the outcome 0 first; a branch of probability 0 is not explored.
pub fn distribution(
    program: &Program,
    path: &[Bit],
    limits: Limits,
    coins: u64,
) -> Result<Distribution, ExhaustedLimit> {
    let terms = &mut program.terms.clone();
    let mut mass = Distribution::default();
    let state = State::start(program.main, path);
    let mut waiting = vec![Path { state, weight: RBig::ONE, steps: 0, flips: 0 }];
    while let Some(Path { mut state, weight, mut steps, flips }) = waiting.pop() {
        let held: u64 = waiting.iter().map(|path| path.state.bytes()).sum();
        loop {
            if terms.is_full() {
                let others = waiting.iter_mut().flat_map(|path| path.state.terms_mut());
                terms.keep(state.terms_mut().chain(others));
            }
            match limits.exhausted(steps, terms.bytes() + state.bytes() + held) {
                Some(ExhaustedLimit::Fuel(_)) if !state.is_value(terms) => {
                    mass.unresolved += weight;
                    break;
                }
                None | Some(ExhaustedLimit::Fuel(_)) => {}
                Some(exhausted) => return Err(exhausted),
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
                Next::Overflow => return Err(ExhaustedLimit::Overflow),
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
