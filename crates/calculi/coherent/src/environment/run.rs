//! Runs of the environment machine without coins; [`paths`](super::paths) has those with coins.

use super::code::Code;
use super::machine::{Machine, Stop};
use crate::outcome::{Limits, Outcome};
use crate::syntax::Bit;

/// The outcome and the counters of a run.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    pub outcome: Outcome,
    pub steps: u64,
    pub cells: u64,
}

/// The leaf of a program without coins at the end of a path.
pub fn run(code: &Code, path: &[Bit], limits: Limits) -> Report {
    let mut machine = Machine::new(code, path);
    let outcome = match machine.advance(limits) {
        Stop::Value(value) => Outcome::Value { value, ticks: machine.ticks },
        Stop::Empty => Outcome::Empty,
        Stop::Exhausted(exhausted) => Outcome::Exhausted(exhausted),
        Stop::Coin => unreachable!("a program without coins flips none"),
    };
    Report { outcome, steps: machine.steps, cells: machine.cells.made }
}
