//! Runs sweeps: all cycles in a row, or chunk by chunk with checkpoints (section 7).
//!
//! When a chunk begins, the entries of its chunk buffers are cleared, to detect reads of other chunks.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::cell::{Cell, Env, ExecutionError};
use super::memory::WindowMemory;
use super::window::{Frame, SweepEnv, Sweeping, run_body};
use crate::plan::{Checkpoint, Direction, Place, Read, Right, ScalarId, Store, Sweep, Zone, chunks};

/// A running sweep.
struct Run<'a> {
    sweep: &'a Sweep,
    sweeping: Sweeping,
    latched: FxHashMap<ScalarId, Cell>,
}

/// The saved registers of loops, by the number of the checkpoint: one entry for each chunk but the first.
pub type SavedRegisters = FxHashMap<usize, Vec<Sweeping>>;

/// Runs a step of a region that is a sweep.
pub fn run_sweep(
    memory: &mut WindowMemory<'_>,
    frame: Frame<'_>,
    (step, sweep): (usize, &Sweep),
    saved: &mut SavedRegisters,
) -> Result<(), ExecutionError> {
    let n = frame.cycles.len();
    let mut run = Run::new(sweep, Sweeping::default());
    let checkpoints = &frame.region.checkpoints;
    let of_reader = |checkpoint: &&Checkpoint| checkpoint.reader == step;
    if let Some(Checkpoint { again: writer, .. }) = checkpoints.iter().find(of_reader) {
        for (number, chunk) in chunks(n, writer.direction).into_iter().enumerate().rev() {
            for (which, checkpoint) in checkpoints.iter().enumerate() {
                if checkpoint.reader == step {
                    let all = saved.get(&which);
                    let registers = number.checked_sub(1).and_then(|before| all?.get(before));
                    again(memory, frame, checkpoint, registers, chunk.clone())?;
                }
            }
            for at in in_order(chunk, sweep.direction) {
                run.cycle(memory, frame, at)?;
            }
        }
        return run.finish(memory);
    }
    for (number, chunk) in chunks(n, sweep.direction).into_iter().enumerate() {
        for (which, checkpoint) in checkpoints.iter().enumerate() {
            if checkpoint.writer == step && number > 0 {
                saved.entry(which).or_default().push(run.sweeping.clone());
            }
        }
        for at in in_order(chunk, sweep.direction) {
            run.cycle(memory, frame, at)?;
        }
    }
    run.finish(memory)
}

/// The cycles of a chunk, in the order of a loop.
fn in_order(chunk: Range<usize>, direction: Direction) -> Box<dyn Iterator<Item = usize>> {
    match direction {
        Direction::Forward => Box::new(chunk),
        Direction::Backward => Box::new(chunk.rev()),
    }
}

/// Runs a loop again over one chunk.
fn again(
    memory: &mut WindowMemory<'_>,
    frame: Frame<'_>,
    checkpoint: &Checkpoint,
    registers: Option<&Sweeping>,
    chunk: Range<usize>,
) -> Result<(), ExecutionError> {
    // The neighbouring cycles: before and after the chunk in the order of the loop.
    let (behind, ahead) = match checkpoint.again.direction {
        Direction::Forward => (chunk.start.checked_sub(1), Some(chunk.end)),
        Direction::Backward => (Some(chunk.end), chunk.start.checked_sub(1)),
    };
    for buffer in &checkpoint.buffers {
        let is_read_ahead = checkpoint.ahead.iter().any(|(_, ahead)| ahead == buffer);
        for (cycle, entry) in memory.buffers[buffer.index()].iter_mut().enumerate() {
            if !(is_read_ahead && Some(cycle) == ahead) {
                *entry = None;
            }
        }
    }
    let mut registers = registers.cloned().unwrap_or_default();
    registers.neighbours.retain(|var, _| checkpoint.registers.contains(var));
    for (var, buffer) in &checkpoint.behind {
        if let (Some(cell), Some(cycle)) = (registers.neighbours.get(var), behind) {
            memory.buffers[buffer.index()][cycle] = Some((*var, cell.clone()));
        }
    }
    let mut run = Run::new(&checkpoint.again, registers);
    for at in in_order(chunk, checkpoint.again.direction) {
        run.cycle(memory, frame, at)?;
    }
    run.finish(memory)
}

impl<'a> Run<'a> {
    fn new(sweep: &'a Sweep, sweeping: Sweeping) -> Self {
        Run { sweep, sweeping, latched: FxHashMap::default() }
    }

    fn cycle(
        &mut self,
        memory: &mut WindowMemory<'_>,
        frame: Frame<'_>,
        at: usize,
    ) -> Result<(), ExecutionError> {
        let Run { sweep, sweeping, latched } = self;
        let zone = frame.zones[at];
        let body = &sweep.bodies[zone];
        let is_inner = frame.region.zones[zone] == Zone::Inner;
        if sweep.is_straight
            && is_inner
            && body.code.iter().any(|instruction| !copies_invariant(&instruction.right))
        {
            return Err(ExecutionError::Violation(
                "straight-line code computes something at an inner cycle".to_string(),
            ));
        }
        run_body(memory, frame, at, body, sweeping)?;
        let mut tracked = Vec::new();
        for tracker in &sweep.trackers {
            let env = SweepEnv { memory, frame, at, sweeping };
            match env.read(&tracker.next[zone])? {
                Cell::Absent => {}
                cell => tracked.push((tracker.shift, cell)),
            }
        }
        sweeping.trackers.extend(tracked);
        if is_inner {
            for latch in &sweep.latches {
                let cell = sweeping.locals[&latch.var].clone();
                if cell != Cell::Absent
                    && (sweep.direction == Direction::Forward || !latched.contains_key(&latch.scalar))
                {
                    latched.insert(latch.scalar, cell);
                }
            }
        }
        sweeping.neighbours = std::mem::take(&mut sweeping.locals);
        sweeping.neighbours.retain(|var, _| sweep.neighbours.contains(var));
        Ok(())
    }

    /// Stores the latched values.
    fn finish(mut self, memory: &mut WindowMemory<'_>) -> Result<(), ExecutionError> {
        for latch in &self.sweep.latches {
            let cell = self.latched.remove(&latch.scalar).unwrap_or(Cell::Absent);
            memory.store(Store::Scalar(latch.scalar), latch.var, 0, &cell)?;
        }
        Ok(())
    }
}

/// Whether an instruction only copies a value that does not change inside the window.
fn copies_invariant(right: &Right) -> bool {
    matches!(right, Right::Copy(Read::Here(_, Place::Immediate(_) | Place::Scalar(_) | Place::Absent)))
}
