//! The Krivine machine on multisets of states: all summands run in parallel, step by step.

use crate::krivine::state::State;
use crate::krivine::step::{Next, Sums, step};
use crate::outcome::{ExhaustedLimit, Limits, Outcome};
use crate::syntax::{Bit, Program};

use super::det::Run;

/// The leaf of a program without coins at the end of a path. The steps are those of the summand that reached
/// the number, or those of all summands if none did.
///
/// By Theorem 7.5 at most one summand reaches a number, so the first one is the answer. The fuel bounds the
/// steps of all summands together.
pub fn run(program: &Program, path: &[Bit], limits: Limits) -> Run {
    let terms = &mut program.terms.clone();
    let mut states = vec![State::start(program.main, path)];
    let (mut generation, mut steps) = (0, 0);
    while !states.is_empty() {
        if terms.is_full() {
            terms.keep(states.iter_mut().flat_map(State::terms_mut));
        }
        let mut next = Vec::new();
        let held: u64 = states.iter().map(State::bytes).sum();
        for state in states {
            // The next generation is at most twice as large.
            if let Some(exhausted) = limits.exhausted(steps, terms.bytes() + 3 * held)
                && !state.is_value(terms)
            {
                return Run { outcome: Outcome::Exhausted(exhausted), steps };
            }
            let ticks = state.ticks;
            match step(terms, state, Sums::Both).next {
                Next::State(state) => next.push(state),
                Next::Sum(first, second) => next.extend([first, second]),
                Next::Zero => {}
                Next::Value(value) => {
                    return Run { outcome: Outcome::Value { value, ticks }, steps: generation };
                }
                Next::Overflow => {
                    return Run { outcome: Outcome::Exhausted(ExhaustedLimit::Overflow), steps };
                }
                Next::Coin(..) => unreachable!("the nd machine has no rule for coins"),
            }
            steps += 1;
        }
        states = next;
        generation += 1;
    }
    Run { outcome: Outcome::Empty, steps }
}
