//! The door to the machines: all leaves of a program, by any of them.

use crate::environment;
use crate::krivine::{det, nd};
use crate::outcome::{Limits, Outcome, Shortage};
use crate::syntax::{Bit, Program};

/// Which machine runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The environment machine.
    Environment,
    /// The deterministic machine with cells.
    Deterministic,
    /// The Krivine machine on multisets.
    Krivine,
}

impl Engine {
    /// All of them; the first is the default.
    pub const ALL: [Engine; 3] = [Engine::Environment, Engine::Deterministic, Engine::Krivine];

    /// As `--engine` names it.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Environment => "env",
            Engine::Deterministic => "det",
            Engine::Krivine => "nd",
        }
    }
}

/// No program with more levels is run: it would have more leaves than anyone reads.
pub const MAX_LEVELS: u32 = 16;

/// Why a program cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It is a function.
    Function,
    /// It has too many leaves.
    Leaves,
    /// It has coins, and the machine has no rule for them.
    Coins,
}

/// What keeps a program from being run by a machine.
pub fn obstacle(program: &Program, engine: Engine) -> Option<Obstacle> {
    if !program.ty.is_ground() {
        Some(Obstacle::Function)
    } else if program.ty.depth > MAX_LEVELS {
        Some(Obstacle::Leaves)
    } else if engine == Engine::Krivine && program.has_coins() {
        Some(Obstacle::Coins)
    } else {
        None
    }
}

/// What `--stats` tells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Steps, of all leaves and paths.
    pub steps: u64,
    /// Cells that were made; only the environment machine counts them.
    pub cells: u64,
}

/// The leaves of a program without obstacles, as `run` prints them: a line each, for more than one leaf with its path.
pub fn run(
    program: &Program,
    engine: Engine,
    limits: Limits,
    coins: u64,
) -> (Result<String, Shortage>, Counters) {
    let mut counters = Counters::default();
    let lines = leaves(program, engine, limits, coins, &mut counters);
    (lines, counters)
}

fn leaves(
    program: &Program,
    engine: Engine,
    limits: Limits,
    coins: u64,
    counters: &mut Counters,
) -> Result<String, Shortage> {
    let (has_coins, has_ticks) = (program.has_coins(), program.has_ticks());
    let code = match engine {
        Engine::Environment => Some(environment::compile(program, limits.memory)?),
        _ => None,
    };
    let mut text = String::new();
    for path in paths(program.ty.depth) {
        let result = match (&code, has_coins) {
            (Some(code), true) => {
                let (mass, effort) = environment::distribution(code, &path, limits, coins)?;
                counters.steps += effort.steps;
                counters.cells += effort.cells;
                mass.show(has_ticks)
            }
            (None, true) => det::distribution(program, &path, limits, coins)?.show(has_ticks),
            (Some(code), false) => {
                let report = environment::run(code, &path, limits);
                counters.steps += report.steps;
                counters.cells += report.cells;
                show(report.outcome, has_ticks)?
            }
            (None, false) => {
                let machine = if engine == Engine::Krivine { nd::run } else { det::run };
                let run = machine(program, &path, limits);
                counters.steps += run.steps;
                show(run.outcome, has_ticks)?
            }
        };
        if !path.is_empty() {
            text.extend(path.iter().map(|bit| bit.digit()));
            text.push_str(": ");
        }
        text.push_str(&result);
        text.push('\n');
    }
    Ok(text)
}

/// A result without coins.
pub fn show(outcome: Outcome, has_ticks: bool) -> Result<String, Shortage> {
    match outcome {
        Outcome::Value { value, ticks } if has_ticks => Ok(format!("{value} ticks {ticks}")),
        Outcome::Value { value, .. } => Ok(value.to_string()),
        Outcome::Empty => Ok("none".to_string()),
        Outcome::Short(shortage) => Err(shortage),
    }
}

/// All paths of a length, in lexicographic order.
pub fn paths(length: u32) -> impl Iterator<Item = Vec<Bit>> {
    let bit = |number: u64, place: u32| if number >> place & 1 == 1 { Bit::One } else { Bit::Zero };
    (0..1_u64 << length).map(move |number| (0..length).rev().map(|place| bit(number, place)).collect())
}
