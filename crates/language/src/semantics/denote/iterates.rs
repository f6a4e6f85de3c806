//! Prints the iterates of the fixpoint, as in Figures 24 and 29 to 31.
//!
//! For each horizon, a sweep re-evaluates the equations in flattening order, each for all its cycles, with
//! the latest rows of the others. Sweeps repeat until one changes nothing. The first sweep of a horizon
//! prints all rows, the others only those that changed.

use std::fmt::{self, Write};

use super::{Denotation, OperationError};
use crate::semantics::Cell;

impl Denotation<'_> {
    /// Writes all iterates and the rows of the outputs; returns how far ahead the outputs looked.
    pub fn iterate(&mut self, out: &mut dyn Write) -> Result<Result<usize, OperationError>, fmt::Error> {
        let labels = self.flow.labels();
        let labels: Vec<String> =
            self.flow.equations.iter().map(|equation| labels.label(equation.out)).collect();
        let mut look_ahead = 0;
        for horizon in 1..=self.n_cycles {
            self.horizon = horizon;
            let before = self.output_rows();
            let mut is_first = true;
            loop {
                let changed = match self.sweep() {
                    Ok(changed) => changed,
                    Err(failure) => return Ok(Err(failure)),
                };
                let shown: Vec<usize> = if is_first { (0..labels.len()).collect() } else { changed.clone() };
                if !shown.is_empty() {
                    self.write_sweep(&labels, &shown, out)?;
                }
                is_first = false;
                if changed.is_empty() {
                    break;
                }
            }
            let changes = self.output_rows().into_iter().zip(before).flat_map(|(new, old)| {
                (0..horizon).filter(move |cycle| new[*cycle] != old[*cycle]).collect::<Vec<_>>()
            });
            look_ahead = changes.map(|cycle| horizon - 1 - cycle).fold(look_ahead, usize::max);
        }
        for output in &self.flow.outputs {
            let name = self.flow.var(*output).name.as_deref().unwrap_or("_");
            writeln!(out, "= {name}  {}", cells(self.row(*output)))?;
        }
        Ok(Ok(look_ahead))
    }

    fn output_rows(&self) -> Vec<Vec<Cell>> {
        self.flow.outputs.iter().map(|output| self.row(*output).to_vec()).collect()
    }

    /// Evaluates each equation for all cycles below the horizon; returns the equations whose row changed.
    fn sweep(&mut self) -> Result<Vec<usize>, OperationError> {
        let mut changed = Vec::new();
        for equation in 0..self.flow.equations.len() {
            let row: Result<Vec<Cell>, OperationError> =
                (0..self.horizon).map(|cycle| self.compute(equation, cycle)).collect();
            let row = row?;
            let out = self.flow.equations[equation].out.index();
            if self.rows[out][..self.horizon] != row[..] {
                self.rows[out][..self.horizon].clone_from_slice(&row);
                changed.push(equation);
            }
        }
        Ok(changed)
    }

    fn write_sweep(&self, labels: &[String], shown: &[usize], out: &mut dyn Write) -> fmt::Result {
        writeln!(out, "[0:{}]", self.horizon)?;
        let width = shown.iter().map(|equation| labels[*equation].chars().count()).max().unwrap_or(0);
        for equation in shown {
            let row = &self.row(self.flow.equations[*equation].out)[..self.horizon];
            writeln!(out, "  {:width$}  {}", labels[*equation], cells(row))?;
        }
        Ok(())
    }
}

/// Cells in the notation of the paper.
fn cells(row: &[Cell]) -> String {
    let cells = row.iter().map(|cell| match cell {
        Cell::Absent => "□".to_string(),
        other => other.to_string(),
    });
    cells.collect::<Vec<_>>().join(" ")
}
