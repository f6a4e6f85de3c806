//! Runs of the environment machine: one leaf, or a distribution over paths of coins.

use dashu_ratio::RBig;

use super::code::Code;
use super::machine::{Machine, Stop};
use crate::outcome::{Limits, Mass, Outcome, Shortage};
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
        Stop::Coin(_) => unreachable!("a program without coins flips none"),
    };
    Report { outcome, steps: machine.steps, cells: machine.cells.made }
}

/// The distribution of the leaf of a program at the end of a path (section 10), and the steps of all paths together.
///
/// Each coin branches, the outcome 0 first; a branch of probability 0 is not explored.
pub fn distribution(code: &Code, path: &[Bit], limits: Limits, coins: u64) -> Result<(Mass, u64), Shortage> {
    let mut mass = Mass::default();
    let mut steps = 0;
    let mut work = vec![(Machine::new(code, path), RBig::ONE, 0)];
    while let Some((mut machine, weight, flips)) = work.pop() {
        let before = machine.steps;
        let stop = machine.advance(limits);
        steps += machine.steps - before;
        match stop {
            Stop::Value(value) => mass.add(value, &weight, machine.ticks),
            Stop::Empty => mass.none += weight,
            Stop::Short(Shortage::Fuel(_)) => mass.unresolved += weight,
            Stop::Short(shortage) => return Err(shortage),
            Stop::Coin(_) if flips == coins => mass.unresolved += weight,
            Stop::Coin(probability) => {
                // Garbage is not worth copying.
                machine.collect();
                let heads = code.probabilities[probability as usize].clone();
                let tails = RBig::ONE - &heads;
                for (side, share) in [(1, tails), (0, heads)] {
                    if share == RBig::ZERO {
                        continue;
                    }
                    let (mut branch, weight) = (machine.clone(), &weight * share);
                    branch.steps += 1;
                    match branch.coin_falls(side) {
                        Ok(None) => work.push((branch, weight, flips + 1)),
                        Ok(Some(Stop::Value(value))) => mass.add(value, &weight, branch.ticks),
                        Ok(Some(Stop::Short(shortage))) => return Err(shortage),
                        Ok(Some(stop)) => unreachable!("a number does not stop with {stop:?}"),
                        Err(_) => mass.none += weight,
                    }
                }
            }
        }
    }
    Ok((mass, steps))
}
