//! Runs sweeps: all cycles in a row, or chunk by chunk where there are checkpoints (section 7).
//!
//! Of a buffer that is kept for one chunk at a time, all entries are forgotten where a chunk begins: what is read of others is found out.

use rustc_hash::FxHashMap;

use super::cell::{Cell, Env, Stop};
use super::memory::Memory;
use super::window::{Frame, SweepEnv, Sweeping, run_body};
use crate::plan::{Checkpoint, Direction, Place, Read, Right, ScalarId, Store, Sweep, Zone, chunk_length};

/// A sweep on its way.
struct Run<'a> {
    sweep: &'a Sweep,
    sweeping: Sweeping,
    latched: FxHashMap<ScalarId, Cell>,
}

/// The registers that loops put aside, by the number of the checkpoint: where each chunk but the first begins.
pub type Aside = FxHashMap<usize, Vec<Sweeping>>;

/// Runs a step of a region that is a sweep.
pub fn run_sweep(
    memory: &mut Memory<'_>,
    frame: Frame<'_>,
    (step, sweep): (usize, &Sweep),
    aside: &mut Aside,
) -> Result<(), Stop> {
    let n = frame.cycles.len();
    let mut run = Run::new(sweep, Sweeping::default());
    let chunk = usize::try_from(chunk_length(n as u64)).unwrap_or(n);
    let checkpoints = &frame.region.checkpoints;
    if checkpoints.iter().any(|checkpoint| checkpoint.backward == step) {
        for start in (0..n).step_by(chunk).rev() {
            let end = (start + chunk).min(n);
            for (number, checkpoint) in checkpoints.iter().enumerate() {
                if checkpoint.backward == step {
                    let registers = if start == 0 {
                        None
                    } else {
                        aside.get(&number).and_then(|all| all.get(start / chunk - 1))
                    };
                    again(memory, frame, checkpoint, registers, start..end)?;
                }
            }
            for at in (start..end).rev() {
                run.cycle(memory, frame, at)?;
            }
        }
        return run.finish(memory);
    }
    for step_in_time in 0..n {
        for (number, checkpoint) in checkpoints.iter().enumerate() {
            if checkpoint.forward == step && step_in_time > 0 && step_in_time % chunk == 0 {
                aside.entry(number).or_default().push(run.sweeping.clone());
            }
        }
        let at = if sweep.direction == Direction::Forward { step_in_time } else { n - 1 - step_in_time };
        run.cycle(memory, frame, at)?;
    }
    run.finish(memory)
}

/// Runs a loop forwards again over one chunk.
fn again(
    memory: &mut Memory<'_>,
    frame: Frame<'_>,
    checkpoint: &Checkpoint,
    registers: Option<&Sweeping>,
    chunk: std::ops::Range<usize>,
) -> Result<(), Stop> {
    for buffer in &checkpoint.buffers {
        let is_read_ahead = checkpoint.ahead.iter().any(|(_, ahead)| ahead == buffer);
        for (cycle, entry) in memory.buffers[buffer.0].iter_mut().enumerate() {
            if !(is_read_ahead && cycle == chunk.end) {
                *entry = None;
            }
        }
    }
    let mut registers = registers.cloned().unwrap_or_default();
    registers.neighbours.retain(|var, _| checkpoint.registers.contains(var));
    for (var, buffer) in &checkpoint.behind {
        if let Some(cell) = registers.neighbours.get(var) {
            memory.buffers[buffer.0][chunk.start - 1] = Some((*var, cell.clone()));
        }
    }
    let mut run = Run::new(&checkpoint.again, registers);
    for at in chunk {
        run.cycle(memory, frame, at)?;
    }
    run.finish(memory)
}

impl<'a> Run<'a> {
    fn new(sweep: &'a Sweep, sweeping: Sweeping) -> Self {
        Run { sweep, sweeping, latched: FxHashMap::default() }
    }

    /// One iteration.
    fn cycle(&mut self, memory: &mut Memory<'_>, frame: Frame<'_>, at: usize) -> Result<(), Stop> {
        let Run { sweep, sweeping, latched } = self;
        let zone = frame.zones[at];
        let body = &sweep.bodies[zone];
        let is_inner = frame.region.zones[zone] == Zone::Inner;
        if sweep.is_straight
            && is_inner
            && body.code.iter().any(|instruction| !is_written_down(&instruction.right))
        {
            return Err(Stop::Violation(
                "straight-line code has something to do at an inner cycle".to_string(),
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

    /// Keeps the last values of streams that are needed afterwards.
    fn finish(mut self, memory: &mut Memory<'_>) -> Result<(), Stop> {
        for latch in &self.sweep.latches {
            let cell = self.latched.remove(&latch.scalar).unwrap_or(Cell::Absent);
            memory.store(Store::Scalar(latch.scalar), latch.var, 0, &cell)?;
        }
        Ok(())
    }
}

/// Whether an instruction only copies what does not change inside the window.
fn is_written_down(right: &Right) -> bool {
    matches!(right, Right::Copy(Read::Here(_, Place::Immediate(_) | Place::Scalar(_) | Place::Absent)))
}
