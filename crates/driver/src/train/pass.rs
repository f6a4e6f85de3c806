//! One pass over some rows: the sum of the losses, and the rows with unknown loss.

use std::collections::VecDeque;

use eddy_flow::Flow;
use eddy_language::semantics::Cell;
use eddy_syntax::Diagnostic;
use eddy_tensor::Value;

use super::growth::Growth;
use super::unknown::Unknown;
use crate::engine::{Engine, EngineError};

/// A pass over some rows.
pub(super) struct Pass<'a> {
    pub engine: Engine<'a>,
    flow: &'a Flow,
    /// The number of streams in a loss.
    n_streams: usize,
    sum: f64,
    n_known: usize,
    pub is_diverged: bool,
    pub unknown: Unknown,
    pub growth: Growth,
    /// For each row without a result yet, whether any input is present, and the streams that have a loss.
    active: VecDeque<(bool, Option<Box<[bool]>>)>,
    /// The row at which the pass stopped with an error.
    pub failed_at: Option<u64>,
}

impl<'a> Pass<'a> {
    pub fn new(engine: Engine<'a>, flow: &'a Flow, n_streams: usize) -> Self {
        Pass {
            engine,
            flow,
            n_streams,
            sum: 0.0,
            n_known: 0,
            is_diverged: false,
            unknown: Unknown::default(),
            growth: Growth::default(),
            active: VecDeque::new(),
            failed_at: None,
        }
    }

    /// Runs a row; with a mask, only these streams have a loss.
    pub fn row(&mut self, row: &[Cell], mask: Option<Box<[bool]>>) -> Result<(), Vec<Diagnostic>> {
        self.active.push_back((row.iter().any(|cell| *cell != Cell::Absent), mask));
        let opened = self.engine.open(row);
        self.concluded(opened)
    }

    /// Announces that the remaining rows are the last ones.
    pub fn near_end(&mut self) -> Result<(), Vec<Diagnostic>> {
        let outcome = self.engine.near_end();
        self.concluded(outcome)
    }

    pub fn end(&mut self) -> Result<(), Vec<Diagnostic>> {
        let ended = self.engine.end();
        self.concluded(ended)
    }

    fn concluded(&mut self, outcome: Result<(), EngineError>) -> Result<(), Vec<Diagnostic>> {
        outcome.map_err(|failure| {
            self.failed_at = Some(failure.cycle());
            vec![failure.diagnostic(self.flow)]
        })?;
        while let Some(row) = self.engine.next_row() {
            let (is_active, mask) = self.active.pop_front().unwrap_or((true, None));
            self.unknown.row(is_active);
            let n_streams =
                mask.as_ref().map_or(self.n_streams, |mask| mask.iter().filter(|is_real| **is_real).count());
            match &row[0] {
                Cell::Absent => {}
                Cell::Value(loss) => {
                    self.unknown.known(n_streams);
                    self.add(loss, n_streams, mask.as_deref());
                }
                Cell::Unknown | Cell::Present | Cell::Error => self.unknown.unknown(n_streams),
            }
        }
        Ok(())
    }

    #[allow(clippy::cast_precision_loss)] // a mean of more than 2^53 losses may be rounded
    fn add(&mut self, loss: &Value, n_streams: usize, mask: Option<&[bool]>) {
        let is_real = |stream: usize| mask.is_none_or(|mask| mask[stream]);
        let entries = loss.elements().enumerate().filter(|(stream, _)| is_real(*stream));
        let loss: f64 = entries
            .map(|(_, entry)| match entry {
                Value::Num(entry) => entry,
                Value::Num32(entry) => f64::from(entry),
                other => unreachable!("the loss {other} is no number"),
            })
            .sum();
        self.is_diverged |= !loss.is_finite();
        self.sum += loss;
        self.n_known += n_streams;
        self.growth.add(loss / n_streams as f64);
    }

    /// The mean of the known losses.
    #[allow(clippy::cast_precision_loss)] // a mean of more than 2^53 losses may be rounded
    pub fn mean(&self) -> Option<f64> {
        (self.n_known > 0).then(|| self.sum / self.n_known as f64)
    }
}
