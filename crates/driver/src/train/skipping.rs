//! Rows with missing values that nothing is learnt from: `--skip-missing`.
//!
//! A row without a target keeps its inputs, since later rows may depend on them, and `bp` is false in it. A
//! row without an input is left out if each row is a sample of its own; in a sequence it is an error, since
//! the rows around the hole would become neighbours.

use eddy_flow::Flow;
use eddy_language::clocks::Clocks;
use eddy_language::semantics::Cell;
use eddy_tensor::Value;

use super::dataset::Unit;
use super::signals::Signals;

/// Skips rows, and counts them.
#[derive(Clone, Debug)]
pub(super) struct Skipping {
    bp: usize,
    /// The inputs without which a row is left out.
    required: Vec<usize>,
    n_rows: usize,
    n_without_input: usize,
    n_without_target: usize,
}

impl Skipping {
    /// `None` if the node has no `bp`.
    pub fn new(signals: Signals, unit: Unit, flow: &Flow, clocks: &Clocks) -> Option<Skipping> {
        let bp = signals.bp?;
        let base = clocks.of(flow.inputs[bp]);
        let is_required = |input: &usize| {
            unit == Unit::Row
                && ![signals.end, signals.cut].contains(&Some(*input))
                && clocks.of(flow.inputs[*input]) == base
        };
        let required = (0..bp).filter(is_required).collect();
        Some(Skipping { bp, required, n_rows: 0, n_without_input: 0, n_without_target: 0 })
    }

    /// Whether the row is kept; sets its `bp`.
    pub fn keeps(&mut self, row: &mut [Cell]) -> bool {
        self.n_rows += 1;
        if !row.iter().any(Cell::is_present) {
            return true;
        }
        if self.required.iter().any(|input| row[*input] == Cell::Absent) {
            self.n_without_input += 1;
            return false;
        }
        let is_asked = row[self.bp].truth() != Some(false);
        let has_target = row[self.bp + 1..].iter().all(|cell| *cell != Cell::Absent);
        self.n_without_target += usize::from(is_asked && !has_target);
        row[self.bp] = Cell::Value(Value::Bool(is_asked && has_target));
        true
    }

    /// What was skipped, for the user.
    pub fn notes(&self) -> Vec<String> {
        let counts = [
            (self.n_without_input, "have no value for an input: they are left out"),
            (self.n_without_target, "have no target: nothing is learnt from them"),
        ];
        let told = counts.into_iter().filter(|(n, _)| *n > 0);
        told.map(|(n, what)| format!("{n} of {} rows {what}", self.n_rows)).collect()
    }
}
