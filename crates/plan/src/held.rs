//! Held values (section 6): streams that have one value at all inner cycles of a window.
//!
//! ```text
//! o = merge bp (i when bp) ((post o) when not bp)       inside a window:  o = post o,  so o is what it is at the last cycle
//! p = init fby p1;  p1 = if step then p - g else p      inside a window:  p1 = p = the p1 of the cycle before
//! ```
//!
//! Inner cells that only pass on another one form a graph in which each leads to one other; a cycle with exactly one delay in it
//! carries one value through the window. It needs no loop: each of its cells *is* the cell where the value enters, at the first cycle
//! for `fby`, at the last one for `post` and `fby back`. Streams that copy a held one are held too.
//!
//! Adding a zero that differentiation wrote passes a value on. (That takes -0 for 0; such zeros pad gradients, where it does not
//! matter.)

use eddy_flow::VarId;
use eddy_tensor::Op;
use rustc_hash::FxHashMap;

use crate::cells::{Cells, Liveness};
use crate::known::{Abstract, Known};
use crate::plan::{Direction, Mode, OpenEntry, ZoneEnd};
use crate::system::Def;
use crate::zones::{FIRST, INNER};

/// Where a held value enters.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The stream whose cell it is.
    pub var: VarId,
    /// The end of the window at which it is.
    pub end: ZoneEnd,
    /// What is held in the open window.
    pub open: OpenEntry,
}

/// The held streams.
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
    // Copies of held streams, and delays that look at the cell where the value enters.
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

/// What an inner cell passes on; it must be there at every cycle.
fn pass(cells: &Cells<'_>, liveness: &Liveness, var: VarId) -> Option<Pass> {
    let is_there = cells.conditions(var, INNER).is_empty();
    if !is_there || !cells.evaluation.is_open(var, INNER) {
        return None;
    }
    let pass = match cells.system.def(var) {
        Def::Copy(operand) => Pass::Here(*operand),
        Def::Choice { condition, yes, no } => Pass::Here(cells.branch(*condition, *yes, *no, INNER)?),
        Def::Apply(Op::Add, operands) => Pass::Here(beside_zero(cells, var, operands)?),
        Def::Fby { next, .. } | Def::Ahead { next, .. } if cells.is_on_clock(var) => Pass::Shift(*next),
        _ => return None,
    };
    (cells.is_inside[pass.var().index()] && liveness.is_live(pass.var(), INNER)).then_some(pass)
}

/// The other operand of a sum with a zero, if it has the type of the sum.
fn beside_zero(cells: &Cells<'_>, sum: VarId, operands: &[VarId]) -> Option<VarId> {
    let is_zero = |var: VarId| matches!(cells.evaluation.get(var, INNER), Abstract::Known(Known::Zero(_)));
    let other = match operands {
        [left, right] if is_zero(*right) => *left,
        [left, right] if is_zero(*left) => *right,
        _ => return None,
    };
    let flow = cells.system.flow;
    (flow.var(other).ty == flow.var(sum).ty).then_some(other)
}

/// The cycles of a graph in which each stream leads to at most one other.
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
            let from = path.iter().position(|var| *var == end).expect("the path came by");
            cycles.push(path.split_off(from));
        }
    }
    cycles
}

/// Where the value of a cycle enters: its only delay says so.
fn entry(cells: &Cells<'_>, cycle: &[VarId], passes: &FxHashMap<VarId, Pass>) -> Option<Entry> {
    let mut shifts = cycle.iter().filter(|var| matches!(passes[*var], Pass::Shift(_)));
    let (shift, None) = (shifts.next()?, shifts.next()) else { return None };
    let (end, open) = match cells.system.def(*shift) {
        Def::Fby { .. } => (ZoneEnd::First, OpenEntry::Same),
        _ => (ZoneEnd::Last, open(cells, *shift)?),
    };
    let var = passes[shift].var();
    // A value that is known where it enters would have to be written down; then a loop is as good.
    let is_open = match end {
        ZoneEnd::First => cells.evaluation.is_open(var, FIRST),
        ZoneEnd::Last => cells.zones.last().all(|zone| cells.evaluation.is_open(var, zone)),
    };
    is_open.then_some(Entry { var, end, open })
}

/// What a delay into the future holds in the open window. An initial value that has to be computed is not worth the trouble.
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
