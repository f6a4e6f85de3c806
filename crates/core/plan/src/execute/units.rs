//! Runs the units of a window: nested windows, and loops with lags.

use eddy_flow::{Polarity, VarId};
use eddy_tensor::Value;
use rustc_hash::FxHashSet;

use super::cell::{Cell, ExecutionError, presence};
use super::late::{LateRun, Outside};
use super::memory::{WindowMemory, wrong};
use super::window::{Frame, SweepEnv, Sweeping, run_region, write_slots, zones};
use crate::plan::{
    Body, BufferId, Condition, Direction, Mode, Place, Read, Region, Retimed, ScalarId, SlotId, Step, Store,
    Unit,
};

/// The cycles of a window at which a unit is active.
fn active(
    memory: &WindowMemory<'_>,
    frame: Frame<'_>,
    activity: &[Condition],
) -> Result<Vec<usize>, ExecutionError> {
    let sweeping = Sweeping::default();
    let mut cycles = Vec::new();
    for at in 0..frame.cycles.len() {
        let env = SweepEnv { memory, frame, at, sweeping: &sweeping };
        match presence(activity, &env)? {
            Cell::Present => cycles.push(frame.cycles[at]),
            Cell::Absent => {}
            _ => return Err(ExecutionError::Violation("the cycles of a unit are unknown".to_string())),
        }
    }
    Ok(cycles)
}

/// Runs nested windows.
pub fn run_nested(
    memory: &mut WindowMemory<'_>,
    frame: Frame<'_>,
    region: &Region,
    is_outer_closed: bool,
) -> Result<(), ExecutionError> {
    let cycles = active(memory, frame, &region.activity)?;
    let (guard, polarity) =
        region.guard.ok_or_else(|| ExecutionError::Violation("a unit has no guard".to_string()))?;
    let mut windows: Vec<(Vec<usize>, bool)> = Vec::new();
    let mut window = Vec::new();
    for cycle in cycles {
        window.push(cycle);
        if memory.truth(guard, cycle)? == Some(polarity == Polarity::On) {
            windows.push((std::mem::take(&mut window), true));
        }
    }
    if !window.is_empty() {
        if is_outer_closed && !memory.is_end && frame.region.mode == Mode::Guard {
            return Err(ExecutionError::Violation(
                "a nested window is open where the enclosing window ends".to_string(),
            ));
        }
        windows.push((window, false));
    }
    if region.order == Direction::Backward {
        windows.reverse();
        for (slot, _) in &region.slots {
            memory.slots[slot.index()] = None;
        }
    }
    // The streams of a unit are absent at cycles where its clock is inactive.
    let active: FxHashSet<usize> = windows.iter().flat_map(|(cycles, _)| cycles.iter().copied()).collect();
    for (var, buffer) in buffers_of(region) {
        for cycle in frame.cycles.iter().filter(|cycle| !active.contains(cycle)) {
            memory.store(Store::Buffer(buffer), var, *cycle, &Cell::Absent)?;
        }
    }
    let own = scalars_of(region);
    let n = windows.len();
    let is_end = memory.is_end;
    for (number, (cycles, is_closed)) in windows.into_iter().enumerate() {
        for scalar in &own {
            memory.scalars[scalar.index()] = None;
        }
        // In a backward region, later windows run first. If none of them filled the slot of a delay, the
        // delay reaches the end of the trace in this window too.
        let is_last = region.order == Direction::Backward || number + 1 == n;
        memory.is_end = is_end && is_last;
        let zones = zones(memory, region, &cycles, is_closed)?;
        run_region(memory, region, &cycles, &zones, is_closed)?;
        if is_closed || region.order == Direction::Backward {
            write_slots(memory, region, &cycles, &zones)?;
        }
    }
    memory.is_end = is_end;
    Ok(())
}

/// The buffers and scalars that a region writes, including nested units.
fn stores_of(region: &Region) -> Vec<(VarId, Store)> {
    let mut found = Vec::new();
    let mut bodies: Vec<&Body> = region.single.iter().collect();
    for step in &region.steps {
        match step {
            Step::Sweep(sweep) => {
                bodies.extend(&sweep.bodies);
                found.extend(sweep.latches.iter().map(|latch| (latch.var, Store::Scalar(latch.scalar))));
            }
            Step::Unit(Unit::Nested(inner)) => found.extend(stores_of(inner)),
            Step::Unit(Unit::Retimed(retimed)) => {
                found.extend(retimed.stores.iter().map(|(var, buffer)| (*var, Store::Buffer(*buffer))));
            }
        }
    }
    for instruction in bodies.into_iter().flat_map(|body| &body.code) {
        found.extend(instruction.store.iter().map(|store| (instruction.var, *store)));
    }
    found.extend(region.held.iter().map(|held| (held.var, Store::Scalar(held.scalar))));
    found
}

fn scalars_of(region: &Region) -> FxHashSet<ScalarId> {
    let scalar = |(_, store): (VarId, Store)| match store {
        Store::Scalar(scalar) => Some(scalar),
        Store::Buffer(_) => None,
    };
    stores_of(region).into_iter().filter_map(scalar).collect()
}

fn buffers_of(region: &Region) -> FxHashSet<(VarId, BufferId)> {
    let buffer = |(var, store): (VarId, Store)| match store {
        Store::Buffer(buffer) => Some((var, buffer)),
        Store::Scalar(_) => None,
    };
    stores_of(region).into_iter().filter_map(buffer).collect()
}

/// The environment of a loop with lags over a window.
struct WindowOutside<'a> {
    memory: &'a WindowMemory<'a>,
    cycles: &'a [usize],
}

impl Outside for WindowOutside<'_> {
    fn invariant(&self, var: VarId) -> Value {
        self.memory.program.invariants[&var].clone()
    }

    fn cell(&self, var: VarId, place: &Place, activation: usize) -> Result<Cell, ExecutionError> {
        self.memory.place(var, place, self.cycles[activation])
    }

    fn slot(&self, slot: SlotId) -> Option<Cell> {
        self.memory.slots[slot.index()].clone()
    }

    fn is_end_of_trace(&self) -> bool {
        self.memory.is_end
    }
}

/// Runs a loop with lags over the window.
pub fn run_retimed(
    memory: &mut WindowMemory<'_>,
    frame: Frame<'_>,
    retimed: &Retimed,
    is_closed: bool,
) -> Result<(), ExecutionError> {
    let cycles = active(memory, frame, &retimed.activity)?;
    let n = cycles.len();
    let mut run = LateRun::default();
    let lagged = &retimed.lagged;
    for iteration in 0..n + lagged.max_lag {
        let outside = WindowOutside { memory, cycles: &cycles };
        run.iterate(&memory.program.operations, lagged, &[], Some(n), &outside)?;
        if let Some(failure) = run.failure() {
            return Err(failure.stop);
        }
        for (var, buffer) in &retimed.stores {
            let activation = iteration.checked_sub(lagged.lag(*var)).filter(|activation| *activation < n);
            if let (Some(activation), Some(cell)) = (activation, run.last(*var, 0)) {
                memory.store(Store::Buffer(*buffer), *var, cycles[activation], &cell)?;
            }
        }
    }
    // The streams of a unit are absent at cycles where its clock is inactive.
    for (var, buffer) in &retimed.stores {
        for cycle in frame.cycles.iter().filter(|cycle| !cycles.contains(cycle)) {
            memory.store(Store::Buffer(*buffer), *var, *cycle, &Cell::Absent)?;
        }
    }
    if is_closed && n > 0 {
        for (slot, read) in &retimed.slots {
            let Read::Here(var, place) = read else { unreachable!("a slot is written from its own cycle") };
            let cell = match place {
                Place::Ring(age) => {
                    run.last(*var, *age).ok_or_else(|| wrong(*var, "is carried but not stored"))?
                }
                place => memory.place(*var, place, cycles[n - 1])?,
            };
            memory.slots[slot.index()] = Some(cell);
        }
    }
    Ok(())
}
