//! The memory of a window: buffers, scalars and slots, as the plan has them.
//!
//! Each entry knows the stream that wrote it, so that a plan is found out that reads something else, or too early, or writes twice.

use eddy_flow::VarId;
use rustc_hash::FxHashMap;

use super::Program;
use super::cell::{Cell, Stop};
use crate::plan::{BufferId, Carried, Immediate, Place, ScalarId, Store};

/// The memory of a window, and what it was given.
pub struct Memory<'a> {
    pub program: &'a Program<'a>,
    /// Entries with the stream that wrote them.
    pub buffers: Vec<Vec<Option<(VarId, Cell)>>>,
    pub scalars: Vec<Option<Cell>>,
    pub slots: Vec<Option<Cell>>,
    /// What the slots are for.
    pub carried: &'a [Carried],
    /// What arrived at each cycle.
    pub rows: Vec<FxHashMap<VarId, Cell>>,
    /// Whether the trace ends with the window.
    pub is_end: bool,
}

/// What law L2 does not allow.
pub fn wrong(var: VarId, what: &str) -> Stop {
    Stop::Violation(format!("stream {} {what}", var.index()))
}

impl Memory<'_> {
    /// A cell that was kept.
    pub fn place(&self, var: VarId, place: &Place, cycle: usize) -> Result<Cell, Stop> {
        match place {
            Place::Immediate(Immediate::Value(value)) => Ok(Cell::Value(value.clone())),
            Place::Immediate(Immediate::Invariant(var)) => {
                Ok(Cell::Value(self.program.invariants[var].clone()))
            }
            Place::Absent => Ok(Cell::Absent),
            Place::Buffer(BufferId(buffer)) => match &self.buffers[*buffer][cycle] {
                Some((owner, cell)) if *owner == var => Ok(cell.clone()),
                Some(_) => Err(wrong(var, "is read from a buffer that another one has")),
                None => Err(wrong(var, "is read from a buffer before it is written")),
            },
            Place::Scalar(ScalarId(scalar)) => self.scalars[*scalar]
                .clone()
                .ok_or_else(|| wrong(var, "is read from a scalar before it is written")),
            Place::Local | Place::Neighbour | Place::Ring(_) => {
                Err(wrong(var, "is read from a register of no loop"))
            }
            Place::Nowhere => Err(wrong(var, "is read and kept nowhere")),
        }
    }

    /// Keeps a cell.
    pub fn store(&mut self, store: Store, var: VarId, cycle: usize, cell: &Cell) -> Result<(), Stop> {
        match store {
            Store::Buffer(BufferId(buffer)) => {
                let entry = &mut self.buffers[buffer][cycle];
                if entry.as_ref().is_some_and(|(owner, _)| *owner == var) {
                    return Err(wrong(var, "is written twice into its buffer"));
                }
                *entry = Some((var, cell.clone()));
            }
            Store::Scalar(ScalarId(scalar)) => {
                if self.scalars[scalar].is_some() {
                    return Err(wrong(var, "is written twice into its scalar"));
                }
                self.scalars[scalar] = Some(cell.clone());
            }
        }
        Ok(())
    }

    /// The value of a condition that is known before the window runs.
    pub fn truth(&self, var: VarId, cycle: usize) -> Result<Option<bool>, Stop> {
        let found = match self.rows[cycle].get(&var) {
            Some(cell) => cell.truth(),
            None => {
                let written = self.buffers.iter().filter_map(|buffer| buffer[cycle].as_ref());
                let mut own = written.filter(|(owner, _)| *owner == var).map(|(_, cell)| cell);
                own.next().ok_or_else(|| wrong(var, "ends windows and is kept nowhere"))?.truth()
            }
        };
        Ok(found)
    }
}
