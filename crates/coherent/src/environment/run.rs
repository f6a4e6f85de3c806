//! Runs of the environment machine without coins; [`paths`](super::paths) has those with coins.

use super::code::Code;
use super::machine::{Machine, Stop};
use crate::outcome::{Limits, Outcome};
use crate::syntax::Bit;

/// What a run came to, and what it took.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The outcome.
    pub outcome: Outcome,
    /// How many steps the machine made.
    pub steps: u64,
    /// How many cells it made.
    pub cells: u64,
}

/// The leaf of a program without coins at the end of a path.
pub fn run(code: &Code, path: &[Bit], limits: Limits) -> Report {
    let mut machine = Machine::new(code, path);
    let outcome = match machine.advance(limits) {
        Stop::Value(value) => Outcome::Value { value, ticks: machine.ticks },
        Stop::Empty => Outcome::Empty,
        Stop::Short(shortage) => Outcome::Short(shortage),
        Stop::Coin => unreachable!("a program without coins flips none"),
    };
    Report { outcome, steps: machine.steps, cells: machine.cells.made }
}
