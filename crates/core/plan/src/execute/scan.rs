//! Finds the derived end of windows (section 8).

use eddy_flow::{Polarity, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cell::{Cell, ExecutionError};
use super::late::LateRun;
use super::{NoOutside, Program};
use crate::plan::{Bit, DerivedEnd, Needing};

/// The state of a scan.
#[derive(Default)]
pub struct Scan {
    late: LateRun,
    /// `fby`s that have been present.
    seen: FxHashSet<VarId>,
    /// The bits of sampled streams at their last activation.
    sampled: FxHashMap<VarId, bool>,
    /// Delays that keep the window open.
    pending: FxHashSet<VarId>,
    /// The guards of nested units at their last activation.
    nested: FxHashMap<VarId, bool>,
}

impl Scan {
    /// Whether the window may end after this cycle.
    pub fn closes(
        &mut self,
        program: &Program<'_>,
        derived_end: &DerivedEnd,
        row: &FxHashMap<VarId, Cell>,
    ) -> Result<bool, ExecutionError> {
        let mut inputs: Vec<(VarId, Cell)> = row.iter().map(|(var, cell)| (*var, cell.clone())).collect();
        inputs.sort_unstable_by_key(|(var, _)| *var);
        let outside = NoOutside { program, is_end: false };
        self.late.iterate(&program.operations, &derived_end.scan, &inputs, None, &outside)?;
        if let Some(failure) = self.late.failure() {
            return Err(failure.stop);
        }
        let value = |var: VarId| self.late.last(var, 0).or_else(|| row.get(&var).cloned());
        let mut bits: FxHashMap<VarId, Option<bool>> = FxHashMap::default();
        for needing in &derived_end.bits {
            let bit = bit(needing, &bits, &self.seen, value);
            bits.insert(needing.var, bit);
        }
        let is_set = |var: &VarId| bits.get(var).copied().flatten().unwrap_or(false);
        for required in derived_end.required.iter().filter(|required| required.is_sampled) {
            if let Some(bit) = bits[&required.var] {
                self.sampled.insert(required.var, bit);
            }
        }
        for pending in &derived_end.pending {
            // The delay is present if its bit is known, because the bit of a delay into the future is always
            // set.
            if bits.get(&pending.shift).copied().flatten().is_some() {
                if pending.reaches.iter().any(is_set) {
                    self.pending.insert(pending.shift);
                } else {
                    self.pending.remove(&pending.shift);
                }
            }
        }
        for (guard, polarity) in &derived_end.nested {
            match value(*guard) {
                Some(Cell::Absent) | None => {}
                Some(cell) => {
                    self.nested.insert(*guard, cell.truth() == Some(*polarity == Polarity::On));
                }
            }
        }
        let fbys = derived_end.bits.iter().filter_map(|needing| match needing.bit {
            Bit::First { fby, .. } => Some(fby),
            _ => None,
        });
        let there: Vec<VarId> =
            fbys.filter(|fby| !matches!(value(*fby), Some(Cell::Absent) | None)).collect();
        self.seen.extend(there);
        let is_waiting = derived_end.required.iter().any(|required| {
            if required.is_sampled {
                self.sampled.get(&required.var).copied().unwrap_or(false)
            } else {
                is_set(&required.var)
            }
        });
        let is_open = derived_end.nested.iter().any(|(guard, _)| self.nested.get(guard) == Some(&false));
        Ok(!is_waiting && !is_open && self.pending.is_empty())
    }
}

/// Whether a stream needs a later cycle; `None` if it is absent.
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
