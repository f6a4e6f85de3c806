//! Runs the code of one window.
//!
//! The executor is literal: loops over zones and sweeps, with the memory that the plan declares. It checks
//! law L2: a cell is written once, before it is read, and each read from a buffer or a scalar finds the
//! intended stream.

use eddy_flow::VarId;
use rustc_hash::FxHashMap;

use super::cell::{Cell, Env, ExecutionError, compute};
use super::memory::{WindowMemory, wrong};
use super::sweep::{SavedRegisters, run_sweep};
use super::units::{run_nested, run_retimed};
use crate::plan::{
    Body, Direction, Immediate, Mode, OpenEntry, Place, Read, Region, SlotId, SlotSource, Step, Unit,
    Version, Windows, Zone, ZoneEnd,
};

/// A window or a nested window.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    pub region: &'a Region,
    /// Its cycles, as indices into the outermost window.
    pub cycles: &'a [usize],
    /// The zone of each cycle.
    pub zones: &'a [usize],
    /// Whether the trace ends with it.
    pub is_end: bool,
}

/// The state of a sweep.
#[derive(Clone, Default)]
pub struct Sweeping {
    pub locals: FxHashMap<VarId, Cell>,
    pub neighbours: FxHashMap<VarId, Cell>,
    pub trackers: FxHashMap<VarId, Cell>,
}

/// One iteration of a sweep.
pub struct SweepEnv<'a> {
    pub memory: &'a WindowMemory<'a>,
    pub frame: Frame<'a>,
    /// The index of the cycle in the window.
    pub at: usize,
    pub sweeping: &'a Sweeping,
}

/// The zones of the cycles of a window, and its outputs in cycle order.
type Shown = (Vec<usize>, Vec<Vec<(VarId, Cell)>>);

/// Runs a window and returns its outputs.
pub fn run_window(
    windows: &Windows,
    version: &Version,
    memory: &mut WindowMemory<'_>,
    is_closed: bool,
) -> Result<Shown, ExecutionError> {
    for arrival in &windows.arrivals {
        let row = |cycle: usize| memory.rows[cycle].get(&arrival.var).cloned();
        let n = memory.rows.len();
        if let Some(buffer) = arrival.buffer {
            let entries: Option<Vec<_>> =
                (0..n).map(|cycle| Some(Some((arrival.var, row(cycle)?)))).collect();
            let entries = entries.ok_or_else(|| wrong(arrival.var, "did not arrive"))?;
            memory.buffers[buffer.index()] = entries;
        }
        let (first, last) = (row(0), (0..n).rev().filter_map(row).find(|cell| *cell != Cell::Absent));
        if let Some(scalar) = arrival.first {
            memory.scalars[scalar.index()] = first;
        }
        if let Some(scalar) = arrival.last {
            memory.scalars[scalar.index()] = Some(last.unwrap_or(Cell::Absent));
        }
    }
    let cycles: Vec<usize> = (0..memory.rows.len()).collect();
    let zones = zones(memory, &version.region, &cycles, is_closed)?;
    run_region(memory, &version.region, &cycles, &zones, is_closed)?;
    let mut shown = Vec::new();
    let region = &version.region;
    for (at, zone) in zones.iter().enumerate() {
        let sweeping = Sweeping::default();
        let frame = Frame { region, cycles: &cycles, zones: &zones, is_end: memory.is_end };
        let mut row = Vec::new();
        for instruction in &version.emit[*zone].code {
            let env = SweepEnv { memory, frame, at, sweeping: &sweeping };
            row.push((instruction.var, compute(None, instruction, &env)?));
        }
        shown.push(row);
    }
    if is_closed {
        write_slots(memory, region, &cycles, &zones)?;
    }
    Ok((zones, shown))
}

pub fn zones(
    memory: &WindowMemory<'_>,
    region: &Region,
    cycles: &[usize],
    is_closed: bool,
) -> Result<Vec<usize>, ExecutionError> {
    let n = cycles.len();
    let id = |zone: Zone| {
        region.zone_id(zone).ok_or_else(|| ExecutionError::Violation(format!("there is no zone {zone:?}")))
    };
    let (first, inner) = (id(Zone::First)?.index(), id(Zone::Inner)?.index());
    let mut zones = vec![inner; n];
    zones[0] = first;
    if !is_closed || region.mode == Mode::Cut {
        return Ok(zones);
    }
    let last = cycles[n - 1];
    let mut number = 0;
    if !region.alternatives.is_empty() {
        let holds = |(var, truth): &(VarId, bool)| {
            Ok::<bool, ExecutionError>(memory.truth(*var, last)? == Some(*truth))
        };
        let mut found = None;
        for (index, alternative) in region.alternatives.iter().enumerate() {
            let held: Result<Vec<bool>, ExecutionError> = alternative.conditions.iter().map(holds).collect();
            if held?.into_iter().all(|holds| holds) {
                found = Some(index);
                break;
            }
        }
        number = found.ok_or_else(|| {
            ExecutionError::Violation("no alternative holds at the end of a window".to_string())
        })?;
    }
    zones[n - 1] = if n == 1 { id(Zone::Only(number))?.index() } else { id(Zone::Last(number))?.index() };
    Ok(zones)
}

/// Runs the steps of a window.
pub fn run_region(
    memory: &mut WindowMemory<'_>,
    region: &Region,
    cycles: &[usize],
    zones: &[usize],
    is_closed: bool,
) -> Result<(), ExecutionError> {
    let is_end = memory.is_end;
    let frame = Frame { region, cycles, zones, is_end };
    if let Zone::Only(number) = region.zones[zones[0]] {
        let mut sweeping = Sweeping::default();
        return run_body(memory, frame, 0, &region.single[number], &mut sweeping);
    }
    if !is_closed {
        for held in region.held.iter().filter(|held| held.entry.1 == ZoneEnd::Last) {
            memory.scalars[held.scalar.index()] = Some(match &held.open {
                OpenEntry::Init(Immediate::Value(value)) => Cell::Value(value.clone()),
                OpenEntry::Init(Immediate::Invariant(var)) => {
                    Cell::Value(memory.program.invariants[var].clone())
                }
                OpenEntry::Unknown | OpenEntry::Same => Cell::Present,
            });
        }
    }
    let mut saved = SavedRegisters::default();
    for (number, step) in region.steps.iter().enumerate() {
        match step {
            Step::Sweep(sweep) => run_sweep(memory, frame, (number, sweep), &mut saved)?,
            Step::Unit(Unit::Retimed(retimed)) => run_retimed(memory, frame, retimed, is_closed)?,
            Step::Unit(Unit::Nested(inner)) => run_nested(memory, frame, inner, is_closed)?,
        }
    }
    Ok(())
}

pub fn run_body(
    memory: &mut WindowMemory<'_>,
    frame: Frame<'_>,
    at: usize,
    body: &Body,
    sweeping: &mut Sweeping,
) -> Result<(), ExecutionError> {
    for instruction in &body.code {
        let var = instruction.var;
        let env = SweepEnv { memory, frame, at, sweeping };
        let cell = compute(memory.program.operations[var.index()], instruction, &env)?;
        for store in &instruction.store {
            memory.store(*store, var, frame.cycles[at], &cell)?;
        }
        if sweeping.locals.insert(var, cell).is_some() {
            return Err(wrong(var, "is computed twice in one iteration"));
        }
    }
    Ok(())
}

impl Env for SweepEnv<'_> {
    fn read(&self, read: &Read) -> Result<Cell, ExecutionError> {
        let var = read.var();
        let zone = |at: usize| self.frame.region.zones[self.frame.zones[at]];
        let (place, at) = match read {
            Read::Here(_, place) => (place, self.at),
            Read::Before { first, inner, .. } => {
                let at = self.at.checked_sub(1).ok_or_else(|| wrong(var, "is read before the window"))?;
                (if at == 0 { first } else { inner }, at)
            }
            Read::After { inner, last, .. } => {
                let at = self.at + 1;
                if at >= self.frame.cycles.len() {
                    return Err(wrong(var, "is read after the window"));
                }
                match zone(at) {
                    Zone::Last(number) => (&last[number], at),
                    _ => (inner, at),
                }
            }
        };
        match place {
            Place::Local => match self.sweeping.locals.get(&var) {
                Some(cell) => Ok(cell.clone()),
                None => Err(wrong(var, "is read from a register before it is computed")),
            },
            Place::Neighbour => match self.sweeping.neighbours.get(&var) {
                Some(cell) => Ok(cell.clone()),
                None => Err(wrong(var, "is read from a register that the last iteration did not write")),
            },
            place => self.memory.place(var, place, self.frame.cycles[at]),
        }
    }

    fn slot(&self, slot: SlotId) -> Option<Cell> {
        self.memory.slots[slot.index()].clone()
    }

    fn register(&self, shift: VarId) -> Option<Cell> {
        self.sweeping.trackers.get(&shift).cloned()
    }

    fn has_before(&self) -> bool {
        self.at > 0
    }

    fn has_after(&self) -> bool {
        self.at + 1 < self.frame.cycles.len()
    }

    fn is_end_of_trace(&self) -> bool {
        self.frame.is_end
    }
}

/// Writes the values carried into the next window.
pub fn write_slots(
    memory: &mut WindowMemory<'_>,
    region: &Region,
    cycles: &[usize],
    zones: &[usize],
) -> Result<(), ExecutionError> {
    let written: Result<Vec<(SlotId, Option<Cell>)>, ExecutionError> = region
        .slots
        .iter()
        .map(|(slot, source)| Ok((*slot, last_cell(memory, region, (*slot, source), cycles, zones)?)))
        .collect();
    for (slot, cell) in written? {
        if let Some(cell) = cell {
            memory.slots[slot.index()] = Some(cell);
        }
    }
    Ok(())
}

fn last_cell(
    memory: &WindowMemory<'_>,
    region: &Region,
    (slot, source): (SlotId, &SlotSource),
    cycles: &[usize],
    zones: &[usize],
) -> Result<Option<Cell>, ExecutionError> {
    let next = memory.carried[slot.index()].next;
    for (zone, place) in &source.places {
        let mut of_zone: Vec<usize> =
            (0..cycles.len()).filter(|at| zones[*at] == zone.index()).map(|at| cycles[at]).collect();
        if region.order == Direction::Forward {
            of_zone.reverse();
        }
        let is_buffer = matches!(place, Place::Buffer(_));
        for cycle in of_zone.into_iter().take(if is_buffer { usize::MAX } else { 1 }) {
            let cell = memory.place(next, place, cycle)?;
            if cell != Cell::Absent {
                return Ok(Some(cell));
            }
        }
    }
    Ok(None)
}
