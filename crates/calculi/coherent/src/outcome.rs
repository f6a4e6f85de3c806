//! Outcomes and limits of runs.

use std::collections::BTreeMap;
use std::fmt;

use dashu_ratio::RBig;

/// The limits of a run. A run that reaches a limit reports its name.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steps of the machine, for each leaf and each path of coins.
    pub fuel: u64,
    /// Approximate bytes.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { fuel: 10_000_000, memory: 1 << 30 }
    }
}

/// The default number of coins that a path may flip.
pub const DEFAULT_COINS: u64 = 12;

impl Limits {
    /// The exhausted limit, if any.
    #[inline]
    pub fn exhausted(&self, steps: u64, bytes: u64) -> Option<ExhaustedLimit> {
        if steps >= self.fuel {
            Some(ExhaustedLimit::Fuel(self.fuel))
        } else if bytes > self.memory {
            Some(ExhaustedLimit::Memory(self.memory))
        } else {
            None
        }
    }
}

/// Why a run was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExhaustedLimit {
    /// It reached its limit of steps.
    Fuel(u64),
    /// It needs more memory than its limit.
    Memory(u64),
    /// A number went beyond 2^64 - 1.
    Overflow,
}

/// The outcome of a run without coins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A number, and its count of ticks.
    Value { value: u64, ticks: u64 },
    /// The state 0: the leaf is provably empty.
    Empty,
    /// The run was stopped.
    Exhausted(ExhaustedLimit),
}

/// The result of a leaf of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeafResult {
    /// A number, and how many ticks were counted on the way.
    Value { value: u64, ticks: u64 },
    /// The leaf is provably empty.
    Empty,
    /// The distribution of a program with coins.
    Distribution(Distribution),
}

impl Outcome {
    /// The result of the leaf, unless the run was stopped.
    pub fn result(self) -> Result<LeafResult, ExhaustedLimit> {
        match self {
            Outcome::Value { value, ticks } => Ok(LeafResult::Value { value, ticks }),
            Outcome::Empty => Ok(LeafResult::Empty),
            Outcome::Exhausted(exhausted) => Err(exhausted),
        }
    }
}

impl LeafResult {
    /// As `run` prints it, with or without ticks.
    pub fn show(&self, with_ticks: bool) -> String {
        match self {
            LeafResult::Value { value, ticks } if with_ticks => format!("{value} ticks {ticks}"),
            LeafResult::Value { value, .. } => value.to_string(),
            LeafResult::Empty => "none".to_string(),
            LeafResult::Distribution(mass) => mass.show(with_ticks),
        }
    }
}

/// An exact sub-probability distribution on numbers, and the masses of the other outcomes (section 10).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// For each number its probability, and the expectation of the ticks restricted to it.
    pub values: BTreeMap<u64, (RBig, RBig)>,
    /// The probability of the state 0.
    pub none: RBig,
    /// The probability of paths that ran out of coins or fuel.
    pub unresolved: RBig,
}

impl Distribution {
    /// Adds paths of this weight that reached a number, with their weighted ticks.
    pub fn add(&mut self, value: u64, weight: &RBig, ticks: RBig) {
        let (mass, expectation) = self.values.entry(value).or_default();
        *mass += weight;
        *expectation += ticks;
    }

    /// The sum of all masses: 1.
    pub fn total(&self) -> RBig {
        let values: RBig = self.values.values().fold(RBig::ZERO, |sum, (mass, _)| sum + mass);
        values + &self.none + &self.unresolved
    }

    /// The distribution as `run` prints it, with or without the expectations of ticks.
    pub fn show(&self, with_ticks: bool) -> String {
        let values = self.values.iter().map(|(value, (mass, _))| (value.to_string(), mass));
        let rest = [("none", &self.none), ("unresolved", &self.unresolved)];
        let rest = rest.into_iter().map(|(name, mass)| (name.to_string(), mass));
        let entries = values.chain(rest).filter(|(_, mass)| **mass != RBig::ZERO);
        let masses = braces(entries);
        if !with_ticks {
            return masses;
        }
        let listed = self.values.iter().filter(|(_, (mass, _))| *mass != RBig::ZERO);
        let ticks = braces(listed.map(|(value, (_, expectation))| (value.to_string(), expectation)));
        format!("{masses} ticks {ticks}")
    }
}

fn braces<'a>(entries: impl Iterator<Item = (String, &'a RBig)>) -> String {
    let entries: Vec<String> = entries.map(|(name, mass)| format!("{name}: {mass}")).collect();
    format!("{{{}}}", entries.join(", "))
}

impl fmt::Display for ExhaustedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExhaustedLimit::Fuel(steps) => write!(f, "out of fuel after {steps} steps"),
            ExhaustedLimit::Memory(bytes) => {
                write!(f, "out of memory: the run needs more than {} MiB", bytes >> 20)
            }
            ExhaustedLimit::Overflow => f.write_str("a number went beyond 2^64 - 1"),
        }
    }
}
