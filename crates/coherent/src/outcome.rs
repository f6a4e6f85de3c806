//! What a run comes to, and what it may use.

use std::collections::BTreeMap;
use std::fmt;

use dashu_ratio::RBig;

/// What a run may use. Reaching a limit is an outcome that says its name.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steps of the machine, for each leaf and each path of coins.
    pub fuel: u64,
    /// Bytes, about.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { fuel: 10_000_000, memory: 1 << 30 }
    }
}

/// How many coins a path may flip, unless the program or the command line says otherwise.
pub const DEFAULT_COINS: u64 = 12;

impl Limits {
    /// What is used up, if something is.
    #[inline]
    pub fn shortage(&self, steps: u64, bytes: u64) -> Option<Shortage> {
        if steps >= self.fuel {
            Some(Shortage::Fuel(self.fuel))
        } else if bytes > self.memory {
            Some(Shortage::Memory(self.memory))
        } else {
            None
        }
    }
}

/// Why a run was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// It made as many steps as it may.
    Fuel(u64),
    /// It needs more memory than it may.
    Memory(u64),
    /// A number went beyond 2^64 - 1.
    Overflow,
}

/// What a run without coins comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A number, and how many ticks were counted on the way.
    Value {
        /// The number.
        value: u64,
        /// The ticks.
        ticks: u64,
    },
    /// The state 0: there is provably nothing at this leaf.
    Empty,
    /// The run was stopped.
    Short(Shortage),
}

/// An exact sub-probability distribution on numbers, and where the rest of the mass went (section 10).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mass {
    /// For each number its probability, and the expectation of the ticks restricted to it.
    pub values: BTreeMap<u64, (RBig, RBig)>,
    /// The probability of the state 0.
    pub none: RBig,
    /// The probability of paths that ran out of coins or fuel.
    pub unresolved: RBig,
}

impl Mass {
    /// Paths of this weight reached a number; with them come their ticks, weighted.
    pub fn add(&mut self, value: u64, weight: &RBig, ticks: RBig) {
        let (mass, expectation) = self.values.entry(value).or_default();
        *mass += weight;
        *expectation += ticks;
    }

    /// All masses together: 1.
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

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shortage::Fuel(steps) => write!(f, "out of fuel after {steps} steps"),
            Shortage::Memory(bytes) => {
                write!(f, "out of memory: the run needs more than {} MiB", bytes >> 20)
            }
            Shortage::Overflow => f.write_str("a number went beyond 2^64 - 1"),
        }
    }
}
