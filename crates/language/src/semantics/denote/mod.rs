//! The denotational semantics (section 6; Figures 22 and 23), on a bounded horizon.
//!
//! A program denotes the least fixpoint of its equations over rows of cells. Constants, `fby`, `post` and
//! `fby back` take their presence from the inferred clock, and delays skip the cycles where that clock is
//! false. This is the reference semantics: one function computes a cell from other cells, and it is iterated
//! until nothing changes.
//!
//! * [`cells`]: evaluates one cell of an equation.
//! * [`iterates`]: the sweeps that `eddy trace` shows (Figure 24).

mod cells;
pub mod iterates;

use eddy_tensor::EvalError;

use crate::clocks::Clocks;
use crate::flow::{Flow, VarId};
use crate::semantics::Cell;
use cells::{Activity, Evaluator};

/// An operation without a value.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationError {
    /// The index of the equation.
    pub equation: usize,
    pub cycle: usize,
    pub error: EvalError,
}

/// The rows of all streams.
pub struct Denotation<'a> {
    flow: &'a Flow,
    evaluator: Evaluator<'a>,
    /// Indexed by stream, then by cycle.
    rows: Vec<Vec<Cell>>,
    /// The number of cycles that are evaluated.
    horizon: usize,
    n_cycles: usize,
}

impl<'a> Denotation<'a> {
    /// The rows before the first sweep: only inputs are known. `inputs` has a row for each input.
    pub fn new(flow: &'a Flow, clocks: &'a Clocks, inputs: &[Vec<Cell>], n_cycles: usize, seed: u64) -> Self {
        let mut rows = vec![vec![Cell::Unknown; n_cycles]; flow.vars.len()];
        for (input, row) in flow.inputs.iter().zip(inputs) {
            rows[input.index()].clone_from(row);
        }
        Denotation { flow, evaluator: Evaluator::new(flow, clocks, seed), rows, horizon: n_cycles, n_cycles }
    }

    pub fn row(&self, var: VarId) -> &[Cell] {
        &self.rows[var.index()]
    }

    /// Computes the least fixpoint on the whole trace.
    ///
    /// Passes alternate between forwards and backwards, and each cycle is repeated until it is stable, so
    /// that one pass follows recurrences in its direction. The fixpoint does not depend on the order.
    pub fn solve(&mut self) -> Result<(), OperationError> {
        self.horizon = self.n_cycles;
        loop {
            let forwards = self.pass(0..self.n_cycles)?;
            let backwards = self.pass((0..self.n_cycles).rev())?;
            if !forwards && !backwards {
                return Ok(());
            }
        }
    }

    fn pass(&mut self, cycles: impl Iterator<Item = usize>) -> Result<bool, OperationError> {
        let mut has_changed = false;
        for cycle in cycles {
            loop {
                let mut is_stable = true;
                for equation in 0..self.flow.equations.len() {
                    is_stable &= !self.update(equation, cycle)?;
                }
                has_changed |= !is_stable;
                if is_stable {
                    break;
                }
            }
        }
        Ok(has_changed)
    }

    /// Computes a cell; returns whether it changed.
    fn update(&mut self, equation: usize, cycle: usize) -> Result<bool, OperationError> {
        let cell = self.compute(equation, cycle)?;
        let out = self.flow.equations[equation].out;
        let has_changed = self.rows[out.index()][cycle] != cell;
        self.rows[out.index()][cycle] = cell;
        Ok(has_changed)
    }

    fn compute(&self, equation: usize, cycle: usize) -> Result<Cell, OperationError> {
        let is_whole = self.horizon == self.n_cycles;
        self.evaluator
            .cell(&self.rows, equation, cycle, self.horizon, is_whole)
            .map_err(|error| OperationError { equation, cycle, error })
    }

    /// Whether a stream's clock is active at a cycle; `None` if unknown.
    pub fn is_active(&self, var: VarId, cycle: usize) -> Option<bool> {
        match self.evaluator.activity(&self.rows, var, cycle) {
            Activity::On => Some(true),
            Activity::Off => Some(false),
            Activity::Unknown => None,
        }
    }
}
