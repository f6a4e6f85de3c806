//! Runs all leaves of a program on any machine.

use std::fmt;
use std::str::FromStr;

use eddy_syntax::suggest::{UnknownName, named};

use crate::environment;
use crate::krivine::{det, nd};
use crate::outcome::{ExhaustedLimit, LeafResult, Limits};
use crate::syntax::{Bit, Program};

/// Which machine runs a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The environment machine.
    #[default]
    Environment,
    /// The deterministic machine with cells.
    Deterministic,
    /// The Krivine machine on multisets.
    Krivine,
}

impl Engine {
    /// All machines, the default first.
    pub const ALL: [Engine; 3] = [Engine::Environment, Engine::Deterministic, Engine::Krivine];

    /// The name for `--engine`.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Environment => "env",
            Engine::Deterministic => "det",
            Engine::Krivine => "nd",
        }
    }
}

impl FromStr for Engine {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Engine, UnknownName> {
        named(name, &Engine::ALL, Engine::name)
    }
}

/// The maximal number of levels of a program that is run. Each level doubles the number of leaves.
pub const MAX_LEVELS: u32 = 16;

/// Why a program cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRunnable {
    Function,
    Leaves,
    /// It has coins, and the machine has no rule for them.
    Coins,
}

/// Why a machine cannot run a program; `None` if it can.
pub fn not_runnable(program: &Program, engine: Engine) -> Option<NotRunnable> {
    if !program.ty.is_ground() {
        Some(NotRunnable::Function)
    } else if program.ty.depth > MAX_LEVELS {
        Some(NotRunnable::Leaves)
    } else if engine == Engine::Krivine && program.has_coins() {
        Some(NotRunnable::Coins)
    } else {
        None
    }
}

/// Counters for `--stats`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Steps of all leaves and paths.
    pub steps: u64,
    /// The number of cells; only the environment machine counts them.
    pub cells: u64,
}

/// All leaves of a program, in the order of their paths. They print as `run` shows them: one line per leaf,
/// with its path if there is more than one leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaves {
    pub leaves: Vec<Leaf>,
    /// Whether the program counts ticks, which are then shown.
    pub has_ticks: bool,
}

/// A leaf of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its path; empty if the program is one leaf.
    pub path: Vec<Bit>,
    pub result: LeafResult,
}

impl fmt::Display for Leaves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Leaf { path, result }) in self.leaves.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { "\n" })?;
            if !path.is_empty() {
                let digits: String = path.iter().map(|bit| bit.digit()).collect();
                write!(f, "{digits}: ")?;
            }
            f.write_str(&result.show(self.has_ticks))?;
        }
        Ok(())
    }
}

/// Runs all leaves of a program for which [`not_runnable`] returns `None`.
pub fn run(
    program: &Program,
    engine: Engine,
    limits: Limits,
    coins: u64,
) -> (Result<Leaves, ExhaustedLimit>, Counters) {
    let mut counters = Counters::default();
    let leaves = leaves(program, engine, limits, coins, &mut counters);
    (leaves.map(|leaves| Leaves { leaves, has_ticks: program.has_ticks() }), counters)
}

fn leaves(
    program: &Program,
    engine: Engine,
    limits: Limits,
    coins: u64,
    counters: &mut Counters,
) -> Result<Vec<Leaf>, ExhaustedLimit> {
    let has_coins = program.has_coins();
    let code = match engine {
        Engine::Environment => Some(environment::compile(program, limits.memory)?),
        Engine::Deterministic | Engine::Krivine => None,
    };
    let mut leaves = Vec::new();
    for path in paths(program.ty.depth) {
        let result = match (&code, has_coins) {
            (Some(code), true) => {
                let (mass, effort) = environment::distribution(code, &path, limits, coins)?;
                counters.steps += effort.steps;
                counters.cells += effort.cells;
                LeafResult::Distribution(mass)
            }
            (None, true) => LeafResult::Distribution(det::distribution(program, &path, limits, coins)?),
            (Some(code), false) => {
                let report = environment::run(code, &path, limits);
                counters.steps += report.steps;
                counters.cells += report.cells;
                report.outcome.result()?
            }
            (None, false) => {
                let machine = if engine == Engine::Krivine { nd::run } else { det::run };
                let run = machine(program, &path, limits);
                counters.steps += run.steps;
                run.outcome.result()?
            }
        };
        leaves.push(Leaf { path, result });
    }
    Ok(leaves)
}

/// All paths of a length, in lexicographic order.
pub fn paths(length: u32) -> impl Iterator<Item = Vec<Bit>> {
    let bit = |number: u64, place: u32| if number >> place & 1 == 1 { Bit::One } else { Bit::Zero };
    (0..1_u64 << length).map(move |number| (0..length).rev().map(|place| bit(number, place)).collect())
}
