//! Finds out where a window may end (section 8).

use eddy_flow::{Polarity, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cell::{Cell, Stop};
use super::late::LateRun;
use super::{Nothing, Program};
use crate::plan::{Bit, Closing, Needing};

/// A scan and its memory.
#[derive(Default)]
pub struct Scan {
    late: LateRun,
    /// `fby`s that were there.
    seen: FxHashSet<VarId>,
    /// The bits of sampled streams at their last activation.
    sampled: FxHashMap<VarId, bool>,
    /// Delays that keep the window open.
    pending: FxHashSet<VarId>,
    /// The conditions of units at their last activation.
    nested: FxHashMap<VarId, bool>,
}

impl Scan {
    /// Whether the window may end after this cycle.
    pub fn closes(
        &mut self,
        program: &Program<'_>,
        closing: &Closing,
        row: &FxHashMap<VarId, Cell>,
    ) -> Result<bool, Stop> {
        let mut inputs: Vec<(VarId, Cell)> = row.iter().map(|(var, cell)| (*var, cell.clone())).collect();
        inputs.sort_unstable_by_key(|(var, _)| *var);
        let outside = Nothing { program, is_end: false };
        self.late.iterate(&program.operations, &closing.scan, &inputs, None, &outside)?;
        if let Some(failure) = self.late.failure() {
            return Err(failure.stop);
        }
        let value = |var: VarId| self.late.last(var, 0).or_else(|| row.get(&var).cloned());
        let mut bits: FxHashMap<VarId, Option<bool>> = FxHashMap::default();
        for needing in &closing.bits {
            let bit = bit(needing, &bits, &self.seen, value);
            bits.insert(needing.var, bit);
        }
        let is_set = |var: &VarId| bits.get(var).copied().flatten().unwrap_or(false);
        for required in closing.required.iter().filter(|required| required.is_sampled) {
            if let Some(bit) = bits[&required.var] {
                self.sampled.insert(required.var, bit);
            }
        }
        for pending in &closing.pending {
            // It is there if its bit is known: the bit of a delay into the future is always set.
            if bits.get(&pending.shift).copied().flatten().is_some() {
                if pending.reaches.iter().any(is_set) {
                    self.pending.insert(pending.shift);
                } else {
                    self.pending.remove(&pending.shift);
                }
            }
        }
        for (guard, polarity) in &closing.nested {
            match value(*guard) {
                Some(Cell::Absent) | None => {}
                Some(cell) => {
                    self.nested.insert(*guard, cell.truth() == Some(*polarity == Polarity::On));
                }
            }
        }
        let fbys = closing.bits.iter().filter_map(|needing| match needing.bit {
            Bit::First { fby, .. } => Some(fby),
            _ => None,
        });
        let there: Vec<VarId> =
            fbys.filter(|fby| !matches!(value(*fby), Some(Cell::Absent) | None)).collect();
        self.seen.extend(there);
        let is_waiting = closing.required.iter().any(|required| {
            if required.is_sampled {
                self.sampled.get(&required.var).copied().unwrap_or(false)
            } else {
                is_set(&required.var)
            }
        });
        let is_open = closing.nested.iter().any(|(guard, _)| self.nested.get(guard) == Some(&false));
        Ok(!is_waiting && !is_open && self.pending.is_empty())
    }
}

/// Whether a stream needs a later cycle; nothing if it is not there.
fn bit(
    needing: &Needing,
    bits: &FxHashMap<VarId, Option<bool>>,
    seen: &FxHashSet<VarId>,
    value: impl Fn(VarId) -> Option<Cell>,
) -> Option<bool> {
    let is_set = |var: &VarId| bits.get(var).copied().flatten().unwrap_or(false);
    let mut own = false;
    for (condition, polarity) in &needing.clock {
        match value(*condition) {
            Some(Cell::Absent) => return None,
            Some(cell) => match cell.truth() {
                Some(truth) if truth != (*polarity == Polarity::On) => return None,
                Some(_) => {}
                None => own |= is_set(condition),
            },
            None => own |= is_set(condition),
        }
    }
    Some(
        own || match &needing.bit {
            Bit::Set => true,
            Bit::Any(operands) => operands.iter().any(is_set),
            Bit::First { fby, init } => !seen.contains(fby) && is_set(init),
            Bit::Choice { condition, yes, no } => {
                is_set(condition)
                    || match value(*condition).and_then(|cell| cell.truth()) {
                        Some(true) => is_set(yes),
                        Some(false) => is_set(no),
                        None => is_set(yes) || is_set(no),
                    }
            }
        },
    )
}
