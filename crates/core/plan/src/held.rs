//! Held values (section 6): streams that have one value at all inner cycles of a window.
//!
//! ```text
//!                                                     inside a window:
//! o = merge bp (i when bp) ((post o) when not bp)     o = post o, so o is its value at the last cycle
//! p = init fby p1;  p1 = if step then p - g else p    p1 = p = the p1 of the previous cycle
//! ```
//!
//! Inner cells that only pass on another cell form a graph with at most one successor per cell. A cycle with
//! exactly one delay carries one value through the window. It needs no loop: each of its cells *is* the cell
//! where the value enters, at the first cycle for `fby`, at the last cycle for `post` and `fby back`. Copies
//! of held streams are held too.
//!
//! Adding a zero of differentiation also passes a value on. (The addition would turn -0 into 0, and holding
//! the value does not; such zeros pad gradients, where the sign of a zero does not matter.)

use eddy_flow::VarId;
use eddy_tensor::Op;
use rustc_hash::FxHashMap;

use crate::cells::{Cells, Liveness};
use crate::known::{Abstract, KnownValue};
use crate::plan::{Direction, Mode, OpenEntry, ZoneEnd};
use crate::system::Def;
use crate::zones::{FIRST, INNER};

/// Where a held value enters.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The stream of the cell where it enters.
    pub var: VarId,
    /// Whether that is the first or the last cycle.
    pub end: ZoneEnd,
    /// The held value in the open window.
    pub open: OpenEntry,
}

pub type HeldCells = FxHashMap<VarId, Entry>;

/// How an inner cell gets its value from another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Here(VarId),
    Shift(VarId),
}

impl Pass {
    fn var(self) -> VarId {
        match self {
            Pass::Here(var) | Pass::Shift(var) => var,
        }
    }
}

/// Finds the streams whose inner cells are held.
pub fn held(cells: &Cells<'_>, liveness: &Liveness) -> HeldCells {
    let mut held = HeldCells::default();
    if cells.shape.mode == Mode::Cut || cells.order == Direction::Backward {
        return held;
    }
    let inner: Vec<VarId> =
        liveness.cells.iter().filter(|(_, zone)| *zone == INNER).map(|(var, _)| *var).collect();
    let passes: FxHashMap<VarId, Pass> =
        inner.iter().filter_map(|var| Some((*var, pass(cells, liveness, *var)?))).collect();
    for cycle in cycles(&inner, &passes) {
        if let Some(entry) = entry(cells, &cycle, &passes) {
            held.extend(cycle.into_iter().map(|var| (var, entry.clone())));
        }
    }
    // Copies of held streams, and delays of the cell where the value enters.
    loop {
        let n_before = held.len();
        for var in &inner {
            if held.contains_key(var) {
                continue;
            }
            let entry = match passes.get(var) {
                Some(Pass::Here(from)) => held.get(from),
                Some(Pass::Shift(from)) => held.get(from).filter(|entry| {
                    entry.var == *from && is_same_way(cells, *var, entry.end) && same_open(cells, *var, entry)
                }),
                None => None,
            };
            if let Some(entry) = entry.cloned() {
                held.insert(*var, entry);
            }
        }
        if held.len() == n_before {
            return held;
        }
    }
}

/// The cell whose value an inner cell passes on; `None` if the inner cell may be absent or computes a new
/// value.
fn pass(cells: &Cells<'_>, liveness: &Liveness, var: VarId) -> Option<Pass> {
    let is_there = cells.conditions(var, INNER).is_empty();
    if !is_there || !cells.evaluation.is_open(var, INNER) {
        return None;
    }
    let pass = match cells.system.def(var) {
        Def::Copy(operand) => Pass::Here(*operand),
        Def::Choice { condition, yes, no } => Pass::Here(cells.branch(*condition, *yes, *no, INNER)?),
        Def::Apply(Op::Add, operands) => Pass::Here(addend_of_zero(cells, var, operands)?),
        Def::Fby { next, .. } | Def::Ahead { next, .. } if cells.is_on_clock(var) => Pass::Shift(*next),
        _ => return None,
    };
    (cells.is_inside[pass.var().index()] && liveness.is_live(pass.var(), INNER)).then_some(pass)
}

/// The other operand of a sum with a zero, if it has the type of the sum.
fn addend_of_zero(cells: &Cells<'_>, sum: VarId, operands: &[VarId]) -> Option<VarId> {
    let is_zero =
        |var: VarId| matches!(cells.evaluation.get(var, INNER), Abstract::Known(KnownValue::Zero(_)));
    let other = match operands {
        [left, right] if is_zero(*right) => *left,
        [left, right] if is_zero(*left) => *right,
        _ => return None,
    };
    let flow = cells.system.flow;
    (flow.var(other).ty == flow.var(sum).ty).then_some(other)
}

/// The cycles of a graph in which each stream has at most one successor.
fn cycles(inner: &[VarId], passes: &FxHashMap<VarId, Pass>) -> Vec<Vec<VarId>> {
    let mut seen: FxHashMap<VarId, VarId> = FxHashMap::default();
    let mut cycles = Vec::new();
    for start in inner {
        let mut at = *start;
        let mut path = Vec::new();
        let end = loop {
            if let Some(from) = seen.get(&at) {
                break (*from == *start).then_some(at);
            }
            seen.insert(at, *start);
            path.push(at);
            match passes.get(&at) {
                Some(pass) => at = pass.var(),
                None => break None,
            }
        };
        if let Some(end) = end {
            let from =
                path.iter().position(|var| *var == end).expect("the path contains the end of the walk");
            cycles.push(path.split_off(from));
        }
    }
    cycles
}

/// Where the value of a cycle enters: the operand of its only delay. `None` if it has several delays or none,
/// or if its value is known there.
fn entry(cells: &Cells<'_>, cycle: &[VarId], passes: &FxHashMap<VarId, Pass>) -> Option<Entry> {
    let mut shifts = cycle.iter().filter(|var| matches!(passes[*var], Pass::Shift(_)));
    let (shift, None) = (shifts.next()?, shifts.next()) else { return None };
    let (end, open) = match cells.system.def(*shift) {
        Def::Fby { .. } => (ZoneEnd::First, OpenEntry::Same),
        _ => (ZoneEnd::Last, open(cells, *shift)?),
    };
    let var = passes[shift].var();
    // A known value would have to be materialised where it enters, so holding it would save nothing.
    let is_open = match end {
        ZoneEnd::First => cells.evaluation.is_open(var, FIRST),
        ZoneEnd::Last => cells.zones.last().all(|zone| cells.evaluation.is_open(var, zone)),
    };
    is_open.then_some(Entry { var, end, open })
}

/// The value that a delay into the future holds in the open window; `None` if its initial value would have to
/// be computed.
fn open(cells: &Cells<'_>, shift: VarId) -> Option<OpenEntry> {
    match cells.system.def(shift) {
        Def::Ahead { init: None, .. } => Some(OpenEntry::Unknown),
        Def::Ahead { init: Some(init), .. } => {
            let known = cells.evaluation.get(*init, INNER).known()?;
            Some(OpenEntry::Init(known.immediate()))
        }
        _ => Some(OpenEntry::Same),
    }
}

fn is_same_way(cells: &Cells<'_>, shift: VarId, end: ZoneEnd) -> bool {
    matches!(cells.system.def(shift), Def::Fby { .. }) == (end == ZoneEnd::First)
}

fn same_open(cells: &Cells<'_>, shift: VarId, entry: &Entry) -> bool {
    open(cells, shift).as_ref() == Some(&entry.open)
}
