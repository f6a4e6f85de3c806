//! The deterministic machine: runs, with coins as branches.

use dashu_ratio::RBig;

use crate::krivine::state::State;
use crate::krivine::step::{Next, Sums, step};
use crate::outcome::{Limits, Mass, Outcome, Shortage};
use crate::syntax::{Bit, Program, Term};

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The outcome.
    pub outcome: Outcome,
    /// How many steps it took.
    pub steps: u64,
}

/// The leaf of a program without coins at the end of a path.
pub fn run(program: &mut Program, path: &[Bit], limits: Limits) -> Run {
    let mut state = State::start(program.main, path);
    let mut steps = 0;
    loop {
        if let Some(shortage) = limits.shortage(steps, program.terms.bytes() + state.bytes())
            && !state.is_value(&program.terms)
        {
            return Run { outcome: Outcome::Short(shortage), steps };
        }
        let ticks = state.ticks;
        match step(&mut program.terms, state, Sums::Cells).next {
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

/// The distribution of the leaf of a program at the end of a path (section 10).
///
/// Each coin branches, the outcome 0 first; a branch of probability 0 is not explored.
pub fn distribution(
    program: &mut Program,
    path: &[Bit],
    limits: Limits,
    coins: u64,
) -> Result<Mass, Shortage> {
    let mut mass = Mass::default();
    let mut work = vec![(State::start(program.main, path), RBig::ONE, 0, 0)];
    while let Some((mut state, weight, mut steps, flips)) = work.pop() {
        loop {
            match limits.shortage(steps, program.terms.bytes() + state.bytes()) {
                Some(Shortage::Fuel(_)) if !state.is_value(&program.terms) => {
                    mass.unresolved += weight;
                    break;
                }
                None | Some(Shortage::Fuel(_)) => {}
                Some(shortage) => return Err(shortage),
            }
            let ticks = state.ticks;
            match step(&mut program.terms, state, Sums::Cells).next {
                Next::State(next) => state = next,
                Next::Value(value) => {
                    mass.add(value, &weight, ticks);
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
                Next::Coin(probability, waiting) => {
                    let heads = program.terms.probability(probability).clone();
                    let tails = RBig::ONE - &heads;
                    for (side, share) in [(1, tails), (0, heads)] {
                        if share != RBig::ZERO {
                            let term = program.terms.add(Term::Num(side));
                            let branch = State { term, ..waiting.clone() };
                            work.push((branch, &weight * share, steps + 1, flips + 1));
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
