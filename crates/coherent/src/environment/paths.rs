//! Runs with coins: the distribution over all paths of flips (section 10).
//!
//! A path runs until it waits for a coin. What happens then depends on its state alone, so paths that wait in equal states after equally
//! many flips go on together, as a [`Crowd`]: a walk of n steps has 2^n paths, but only about n places to be at. Of the paths in a crowd
//! only what differs is remembered, the [`Share`] that they have: their probability, their ticks, and how many steps they made, since
//! each path has its own fuel.
//!
//! Crowds are run a generation of flips at a time, which finds all that are equal. Where a generation takes too much memory, it is run in
//! small parts, each to its end; that may find fewer, and comes to the same.

use std::collections::BTreeMap;

use dashu_ratio::RBig;
use rustc_hash::FxHashMap;

use super::code::Code;
use super::machine::{Machine, Stop};
use crate::outcome::{Limits, Mass, Shortage};
use crate::syntax::Bit;

/// What a distribution took: steps and cells of all crowds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Steps that were made; those of a crowd count once.
    pub steps: u64,
    /// Cells that were made.
    pub cells: u64,
}

/// The distribution of the leaf of a program at the end of a path.
///
/// Each coin branches; a branch of probability 0 is not explored. A path may flip so many coins.
pub fn distribution(
    code: &Code,
    path: &[Bit],
    limits: Limits,
    coins: u64,
) -> Result<(Mass, Effort), Shortage> {
    let mut walk = Walk { code, limits, coins, mass: Mass::default(), effort: Effort::default(), held: 0 };
    let mut machine = Machine::new(code, path);
    let stop = machine.advance(limits);
    let mut first = Generation::after(0);
    walk.arrive(machine, stop, &Crowd::of_all(), &mut first)?;
    let mut generations = vec![first.into_list()];
    while let Some((flips, mut waiting)) = generations.pop() {
        let part = walk.part_of(&mut waiting, flips);
        if !waiting.is_empty() {
            generations.push((flips, waiting));
        }
        let mut next = Generation::after(flips + 1);
        for (machine, crowd) in part {
            walk.flip(&machine, &crowd, &mut next)?;
        }
        if !next.waiting.is_empty() {
            generations.push(next.into_list());
        }
    }
    Ok((walk.mass, walk.effort))
}

/// The states in which paths wait for a coin after so many flips, and who waits there.
struct Generation<'c> {
    flips: u64,
    waiting: FxHashMap<Machine<'c>, Crowd>,
}

impl<'c> Generation<'c> {
    fn after(flips: u64) -> Generation<'c> {
        Generation { flips, waiting: FxHashMap::default() }
    }

    /// Nobody joins it any more.
    fn into_list(self) -> (u64, Vec<(Machine<'c>, Crowd)>) {
        (self.flips, self.waiting.into_iter().collect())
    }
}

/// Paths in the same state, by the number of steps that they made.
#[derive(Default)]
struct Crowd(BTreeMap<u64, Share>);

/// Some paths together.
#[derive(Default)]
struct Share {
    /// Their probability.
    weight: RBig,
    /// The sum of their ticks, each weighted with the probability of its path.
    ticks: RBig,
}

impl Crowd {
    /// Everybody, at the start.
    fn of_all() -> Crowd {
        Crowd([(0, Share { weight: RBig::ONE, ticks: RBig::ZERO })].into())
    }

    /// Those for whom a coin falls with this chance.
    fn part(&self, chance: &RBig) -> Crowd {
        let part = |share: &Share| Share { weight: &share.weight * chance, ticks: &share.ticks * chance };
        Crowd(self.0.iter().map(|(steps, share)| (*steps, part(share))).collect())
    }
}

/// What is known so far.
struct Walk<'c> {
    code: &'c Code,
    limits: Limits,
    coins: u64,
    mass: Mass,
    effort: Effort,
    /// About how many bytes the crowds take that wait.
    held: u64,
}

/// In how small parts a generation is run that is too large: any small number does.
const FEW: usize = 16;

impl<'c> Walk<'c> {
    /// Those of a generation that go on next: all of them, unless much of the memory is taken.
    fn part_of(&mut self, waiting: &mut Vec<(Machine<'c>, Crowd)>, flips: u64) -> Vec<(Machine<'c>, Crowd)> {
        let n_part = if self.held > self.limits.memory / 4 { FEW.min(waiting.len()) } else { waiting.len() };
        let part = waiting.split_off(waiting.len() - n_part);
        for (machine, crowd) in &part {
            self.held -= machine.bytes() + crowd.0.len() as u64 * self.share_bytes(flips);
        }
        part
    }

    /// The coin that a crowd waits for falls, on either side.
    fn flip(
        &mut self,
        machine: &Machine<'c>,
        crowd: &Crowd,
        next: &mut Generation<'c>,
    ) -> Result<(), Shortage> {
        let heads = machine.coin();
        // The fuel of those who have most, and the memory that is left.
        let fewest = crowd.0.first_key_value().map_or(0, |(steps, _)| *steps);
        let limits =
            Limits { fuel: self.limits.fuel - fewest, memory: self.limits.memory.saturating_sub(self.held) };
        for (side, chance) in [(0, heads.clone()), (1, RBig::ONE - heads)] {
            if chance != RBig::ZERO {
                let mut branch = machine.clone();
                let stop = branch.coin_falls(side, limits);
                self.arrive(branch, stop, &crowd.part(&chance), next)?;
            }
        }
        Ok(())
    }

    /// A crowd has come to a stop. Those who wait for a coin that they may flip join the others who wait in the same state.
    fn arrive(
        &mut self,
        mut machine: Machine<'c>,
        stop: Stop,
        crowd: &Crowd,
        next: &mut Generation<'c>,
    ) -> Result<(), Shortage> {
        self.effort.steps += machine.steps;
        self.effort.cells += machine.cells.made;
        let mut waits = Vec::new();
        for (before, Share { weight, ticks }) in &crowd.0 {
            let steps = before + machine.steps;
            let ticks = ticks + weight * RBig::from(machine.ticks);
            match stop {
                Stop::Short(Shortage::Memory(_)) => return Err(Shortage::Memory(self.limits.memory)),
                Stop::Short(Shortage::Overflow) => return Err(Shortage::Overflow),
                Stop::Short(Shortage::Fuel(_)) => self.mass.unresolved += weight,
                // They had less fuel than others of the crowd.
                _ if steps > self.limits.fuel => self.mass.unresolved += weight,
                Stop::Value(value) => self.mass.add(value, weight, ticks),
                Stop::Empty => self.mass.none += weight,
                Stop::Coin if next.flips == self.coins => self.mass.unresolved += weight,
                Stop::Coin => waits.push((steps, Share { weight: weight.clone(), ticks })),
            }
        }
        let share_bytes = self.share_bytes(next.flips);
        if !waits.is_empty() {
            machine.settle();
            let bytes = machine.bytes();
            let crowd = next.waiting.entry(machine).or_insert_with(|| {
                self.held += bytes;
                Crowd::default()
            });
            for (steps, share) in waits {
                let sum = crowd.0.entry(steps).or_insert_with(|| {
                    self.held += share_bytes;
                    Share::default()
                });
                sum.weight += share.weight;
                sum.ticks += share.ticks;
            }
        }
        let known = self.mass.values.len() as u64 * share_bytes;
        if self.held + known > self.limits.memory {
            Err(Shortage::Memory(self.limits.memory))
        } else {
            Ok(())
        }
    }

    /// About how many bytes a share takes after so many flips: its numbers have as many digits as all denominators together.
    fn share_bytes(&self, flips: u64) -> u64 {
        const FRACTIONS: u64 = 4;
        let digits = flips.saturating_mul(self.code.longest_denominator) / 8;
        (size_of::<(u64, Share)>() as u64).saturating_add(digits.saturating_mul(FRACTIONS))
    }
}
