//! Runs with coins: the distribution over all paths of flips (section 10).
//!
//! A path runs until it waits for a coin. Its future depends on its state alone, so paths that wait in equal
//! states after equally many flips continue together, as a [`PathGroup`]: a random walk of n steps has 2^n
//! paths, but visits only about n different positions. A group stores only what differs between its paths,
//! [`PathTotals`]: their probability, their ticks, and their numbers of steps, since each path has its own
//! fuel.
//!
//! All groups with the same number of flips are a generation. A generation runs as a whole, so all equal
//! states merge. If a generation takes too much memory, it runs in small parts, each to completion; then
//! fewer paths may merge, but the result is the same.

use std::collections::BTreeMap;

use dashu_ratio::RBig;
use rustc_hash::FxHashMap;

use super::code::Code;
use super::machine::{Machine, Stop};
use crate::outcome::{Distribution, ExhaustedLimit, Limits};
use crate::syntax::Bit;

/// The counters of a distribution: steps and cells of all groups.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathCounters {
    /// Steps; a step of a group counts once.
    pub steps: u64,
    pub cells: u64,
}

/// The distribution of the leaf of a program at the end of a path.
///
/// Each coin branches; a branch of probability 0 is not explored. A path may flip at most `coins` coins.
pub fn distribution(
    code: &Code,
    path: &[Bit],
    limits: Limits,
    coins: u64,
) -> Result<(Distribution, PathCounters), ExhaustedLimit> {
    let mut walk = Exploration {
        code,
        limits,
        coins,
        mass: Distribution::default(),
        effort: PathCounters::default(),
        held: 0,
    };
    let mut machine = Machine::new(code, path);
    let stop = machine.advance(limits);
    let mut first = Generation::after(0);
    walk.handle_stop(machine, stop, &PathGroup::of_all(), &mut first)?;
    let mut generations = vec![first.into_list()];
    while let Some((flips, mut waiting)) = generations.pop() {
        let part = walk.part_of(&mut waiting, flips);
        if !waiting.is_empty() {
            generations.push((flips, waiting));
        }
        let mut next = Generation::after(flips + 1);
        for (machine, group) in part {
            walk.flip(&machine, &group, &mut next)?;
        }
        if !next.waiting.is_empty() {
            generations.push(next.into_list());
        }
    }
    Ok((walk.mass, walk.effort))
}

/// The states in which paths wait for a coin after equally many flips, and their groups.
struct Generation<'c> {
    flips: u64,
    waiting: FxHashMap<Machine<'c>, PathGroup>,
}

impl<'c> Generation<'c> {
    fn after(flips: u64) -> Generation<'c> {
        Generation { flips, waiting: FxHashMap::default() }
    }

    /// The flips and groups of a complete generation.
    fn into_list(self) -> (u64, Vec<(Machine<'c>, PathGroup)>) {
        (self.flips, self.waiting.into_iter().collect())
    }
}

/// Paths in the same state, by their number of steps.
#[derive(Default)]
struct PathGroup(BTreeMap<u64, PathTotals>);

/// The totals of some paths.
#[derive(Default)]
struct PathTotals {
    weight: RBig,
    /// The sum of their ticks, each weighted with the probability of its path.
    ticks: RBig,
}

impl PathGroup {
    /// The initial group of all paths.
    fn of_all() -> PathGroup {
        PathGroup([(0, PathTotals { weight: RBig::ONE, ticks: RBig::ZERO })].into())
    }

    /// The group after a coin side of this probability.
    fn part(&self, chance: &RBig) -> PathGroup {
        let part = |totals: &PathTotals| PathTotals {
            weight: &totals.weight * chance,
            ticks: &totals.ticks * chance,
        };
        PathGroup(self.0.iter().map(|(steps, totals)| (*steps, part(totals))).collect())
    }
}

/// The state of the exploration.
struct Exploration<'c> {
    code: &'c Code,
    limits: Limits,
    coins: u64,
    mass: Distribution,
    effort: PathCounters,
    /// The approximate size of the waiting groups in bytes.
    held: u64,
}

/// The size of the parts of a generation that is too large: any small number works.
const SMALL_PART: usize = 16;

impl<'c> Exploration<'c> {
    /// The groups of a generation that run next: all of them, unless much of the memory is used.
    fn part_of(
        &mut self,
        waiting: &mut Vec<(Machine<'c>, PathGroup)>,
        flips: u64,
    ) -> Vec<(Machine<'c>, PathGroup)> {
        let n_part =
            if self.held > self.limits.memory / 4 { SMALL_PART.min(waiting.len()) } else { waiting.len() };
        let part = waiting.split_off(waiting.len() - n_part);
        for (machine, group) in &part {
            self.held -= machine.bytes() + group.0.len() as u64 * self.totals_bytes(flips);
        }
        part
    }

    /// Flips the pending coin of a group, and continues with both sides.
    fn flip(
        &mut self,
        machine: &Machine<'c>,
        group: &PathGroup,
        next: &mut Generation<'c>,
    ) -> Result<(), ExhaustedLimit> {
        let heads = machine.coin();
        // The paths with the fewest steps have the most fuel left. The branch gets that fuel, and the
        // remaining memory.
        let fewest = group.0.first_key_value().map_or(0, |(steps, _)| *steps);
        let limits =
            Limits { fuel: self.limits.fuel - fewest, memory: self.limits.memory.saturating_sub(self.held) };
        for (side, chance) in [(0, heads.clone()), (1, RBig::ONE - heads)] {
            if chance != RBig::ZERO {
                let mut branch = machine.clone();
                let stop = branch.flip_coin(side, limits);
                self.handle_stop(branch, stop, &group.part(&chance), next)?;
            }
        }
        Ok(())
    }

    /// Handles a group that stopped. Paths that wait for another coin and have coins left join the group of
    /// that state.
    fn handle_stop(
        &mut self,
        mut machine: Machine<'c>,
        stop: Stop,
        group: &PathGroup,
        next: &mut Generation<'c>,
    ) -> Result<(), ExhaustedLimit> {
        self.effort.steps += machine.steps;
        self.effort.cells += machine.cells.made;
        let mut waits = Vec::new();
        for (before, PathTotals { weight, ticks }) in &group.0 {
            let steps = before + machine.steps;
            let ticks = ticks + weight * RBig::from(machine.ticks);
            match stop {
                Stop::Exhausted(ExhaustedLimit::Memory(_)) => {
                    return Err(ExhaustedLimit::Memory(self.limits.memory));
                }
                Stop::Exhausted(ExhaustedLimit::Overflow) => return Err(ExhaustedLimit::Overflow),
                Stop::Exhausted(ExhaustedLimit::Fuel(_)) => self.mass.unresolved += weight,
                // These paths had less fuel left than others of the group.
                _ if steps > self.limits.fuel => self.mass.unresolved += weight,
                Stop::Value(value) => self.mass.add(value, weight, ticks),
                Stop::Empty => self.mass.none += weight,
                Stop::Coin if next.flips == self.coins => self.mass.unresolved += weight,
                Stop::Coin => waits.push((steps, PathTotals { weight: weight.clone(), ticks })),
            }
        }
        let totals_bytes = self.totals_bytes(next.flips);
        if !waits.is_empty() {
            machine.settle();
            let bytes = machine.bytes();
            let group = next.waiting.entry(machine).or_insert_with(|| {
                self.held += bytes;
                PathGroup::default()
            });
            for (steps, totals) in waits {
                let sum = group.0.entry(steps).or_insert_with(|| {
                    self.held += totals_bytes;
                    PathTotals::default()
                });
                sum.weight += totals.weight;
                sum.ticks += totals.ticks;
            }
        }
        let known = self.mass.values.len() as u64 * totals_bytes;
        if self.held + known > self.limits.memory {
            Err(ExhaustedLimit::Memory(self.limits.memory))
        } else {
            Ok(())
        }
    }

    /// The approximate size of the totals after this many flips: their numbers have as many digits as all
    /// denominators together.
    fn totals_bytes(&self, flips: u64) -> u64 {
        const FRACTIONS: u64 = 4;
        let digits = flips.saturating_mul(self.code.longest_denominator) / 8;
        (size_of::<(u64, PathTotals)>() as u64).saturating_add(digits.saturating_mul(FRACTIONS))
    }
}
