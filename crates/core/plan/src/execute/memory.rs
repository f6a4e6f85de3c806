//! The memory of a window: buffers, scalars and slots, as the plan declares them.
//!
//! Each entry records the stream that wrote it, to detect plans that read a wrong entry, read too early, or
//! write twice.

use eddy_flow::VarId;
use rustc_hash::FxHashMap;

use super::Program;
use super::cell::{Cell, ExecutionError};
use crate::plan::{Carried, Immediate, Place, Store};

/// The memory of a window, and its inputs.
pub struct WindowMemory<'a> {
    pub program: &'a Program<'a>,
    /// Entries with the stream that wrote them.
    pub buffers: Vec<Vec<Option<(VarId, Cell)>>>,
    pub scalars: Vec<Option<Cell>>,
    pub slots: Vec<Option<Cell>>,
    /// Describes the slots.
    pub carried: &'a [Carried],
    /// The inputs of each cycle.
    pub rows: Vec<FxHashMap<VarId, Cell>>,
    /// Whether the trace ends with the window.
    pub is_end: bool,
}

/// A violation of law L2.
pub fn wrong(var: VarId, what: &str) -> ExecutionError {
    ExecutionError::Violation(format!("stream {} {what}", var.index()))
}

impl WindowMemory<'_> {
    /// Reads a stored cell.
    pub fn place(&self, var: VarId, place: &Place, cycle: usize) -> Result<Cell, ExecutionError> {
        match place {
            Place::Immediate(Immediate::Value(value)) => Ok(Cell::Value(value.clone())),
            Place::Immediate(Immediate::Invariant(var)) => {
                Ok(Cell::Value(self.program.invariants[var].clone()))
            }
            Place::Absent => Ok(Cell::Absent),
            Place::Buffer(buffer) => match &self.buffers[buffer.index()][cycle] {
                Some((owner, cell)) if *owner == var => Ok(cell.clone()),
                Some(_) => Err(wrong(var, "is read from a buffer that holds another stream")),
                None => Err(wrong(var, "is read from a buffer before it is written")),
            },
            Place::Scalar(scalar) => self.scalars[scalar.index()]
                .clone()
                .ok_or_else(|| wrong(var, "is read from a scalar before it is written")),
            Place::Local | Place::Neighbour | Place::Ring(_) => {
                Err(wrong(var, "is read from a register outside of loops"))
            }
            Place::Nowhere => Err(wrong(var, "is read but not stored")),
        }
    }

    pub fn store(
        &mut self,
        store: Store,
        var: VarId,
        cycle: usize,
        cell: &Cell,
    ) -> Result<(), ExecutionError> {
        match store {
            Store::Buffer(buffer) => {
                let entry = &mut self.buffers[buffer.index()][cycle];
                if entry.as_ref().is_some_and(|(owner, _)| *owner == var) {
                    return Err(wrong(var, "is written twice into its buffer"));
                }
                *entry = Some((var, cell.clone()));
            }
            Store::Scalar(scalar) => {
                if self.scalars[scalar.index()].is_some() {
                    return Err(wrong(var, "is written twice into its scalar"));
                }
                self.scalars[scalar.index()] = Some(cell.clone());
            }
        }
        Ok(())
    }

    /// The value of a condition that is known before the window runs.
    pub fn truth(&self, var: VarId, cycle: usize) -> Result<Option<bool>, ExecutionError> {
        let found = match self.rows[cycle].get(&var) {
            Some(cell) => cell.truth(),
            None => {
                let written = self.buffers.iter().filter_map(|buffer| buffer[cycle].as_ref());
                let mut own = written.filter(|(owner, _)| *owner == var).map(|(_, cell)| cell);
                own.next().ok_or_else(|| wrong(var, "ends windows but is not stored"))?.truth()
            }
        };
        Ok(found)
    }
}
