//! The data of a training run: rows, sequences, and the order in which they come.

use std::ops::Range;

use eddy_flow::Flow;
use eddy_language::codes;
use eddy_language::prepare::Prepared;
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, Sources, Span};
use eddy_tensor::Value;
use eddy_tensor::init::SplitMix64;

use super::TrainRequest;
use super::signals::{Signals, name};
use crate::stream::{Columns, cells_of};

/// The largest number of cells of data in memory; about a gibibyte.
const MAX_CELLS: usize = 1 << 26;

/// All rows of some data.
pub(super) struct Dataset {
    rows: Vec<Vec<Cell>>,
    /// The rows of each unit that is shuffled as a whole.
    units: Vec<Range<usize>>,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// A hash of all cells, as they were read.
    pub hash: String,
}

/// The unit of shuffling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Each row is a sample.
    Row,
    /// Rows up to an `end`.
    Sequence,
    /// The whole data: each row depends on the one before.
    Whole,
}

impl Dataset {
    /// Reads all rows.
    pub fn read(
        columns: &mut Columns,
        prepared: &Prepared,
        span: Span,
        sources: &mut Sources,
    ) -> Result<Vec<Vec<Cell>>, Vec<Diagnostic>> {
        let (mut rows, types) = (Vec::new(), prepared.input_types());
        loop {
            let row = match columns.next_row(false) {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(rows),
                Err(stopped) => return Err(stopped.diagnostics(sources)),
            };
            let cells = cells_of(columns, &prepared.flow, &types, &row, rows.len() as u64);
            rows.push(cells.map_err(|stopped| stopped.diagnostics(sources))?);
            if rows.len() * types.len() > MAX_CELLS {
                let title = format!("the data have more than {MAX_CELLS} cells; they are kept in memory");
                return Err(vec![Diagnostic::error(codes::TOO_MANY_CELLS, span, title)]);
            }
        }
    }

    /// Puts rows into order, and fills in `bp`, `end` and `cut` where the data lack them.
    pub fn new(
        mut rows: Vec<Vec<Cell>>,
        signals: Signals,
        unit: Unit,
        request: &TrainRequest,
        flow: &Flow,
    ) -> Dataset {
        let mut notes = Vec::new();
        let n_rows = rows.len();
        let hash = hash(&rows);
        let is_silent = |rows: &[Vec<Cell>], input: usize| rows.iter().all(|row| row[input] == Cell::Absent);
        let ends = (signals.end, request.sequence, "where sequences end, so they are one", "--sequence");
        let cuts = (signals.cut, request.cut, "where gradients are cut, so they are not", "--cut");
        for (signal, every, what, flag) in [ends, cuts] {
            let Some(input) = signal else { continue };
            match (is_silent(&rows, input), every) {
                (true, Some(n)) => fill(&mut rows, input, &|row| (row + 1) % n == 0 || row + 1 == n_rows),
                (true, None) => {
                    let name = name(flow, input);
                    notes.push(format!(
                        "the data have no `{name}`, which says {what}; `{flag} N` says it too"
                    ));
                    fill(&mut rows, input, &|row| row + 1 == n_rows);
                }
                (false, Some(_)) => {
                    notes.push(format!("the data have `{}`, so `{flag}` is not used", name(flow, input)));
                }
                (false, None) => {}
            }
        }
        if let Some(bp) = signals.bp {
            if is_silent(&rows, bp) {
                fill(&mut rows, bp, &|_| true);
            }
            clear_unused_targets(&mut rows, bp);
        }
        if let (Some(end), Some(last)) = (signals.end, rows.last_mut())
            && last[end] != Cell::Value(Value::Bool(true))
        {
            notes.push("the last sequence has no end; it ends with the data".to_string());
            last[end] = Cell::Value(Value::Bool(true));
        }
        let units = match unit {
            Unit::Row => (0..n_rows).map(|row| row..row + 1).collect(),
            Unit::Whole => std::iter::once(0..n_rows).collect(),
            Unit::Sequence => sequences(&rows, signals.end.expect("sequences have ends")),
        };
        if let (Unit::Sequence, Some(bp), None) = (unit, signals.bp, signals.cut) {
            notes.extend(unlearnt_sequences(&rows, &units, bp));
        }
        Dataset { rows, units, notes, hash }
    }

    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    pub fn n_units(&self) -> usize {
        self.units.len()
    }

    /// The rows of a unit.
    pub fn unit(&self, unit: usize) -> &[Vec<Cell>] {
        &self.rows[self.units[unit].clone()]
    }

    /// The number of the first row of a unit.
    pub fn first_row(&self, unit: usize) -> usize {
        self.units[unit].start
    }

    /// The rows in the order of an epoch.
    pub fn rows(&self, order: &[usize]) -> impl Iterator<Item = &[Cell]> {
        order.iter().flat_map(|unit| self.unit(*unit).iter().map(Vec::as_slice))
    }

    /// The order of the units in an epoch: a function of the seed and the epoch, so that a resumed run
    /// continues with the same order.
    pub fn order(&self, is_shuffled: bool, seed: u64, epoch: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.units.len()).collect();
        if is_shuffled {
            let mut random = SplitMix64::new(&format!("epoch {epoch}"), seed);
            for last in (1..order.len()).rev() {
                let other = (u128::from(random.bits()) * (last as u128 + 1)) >> 64;
                order.swap(last, usize::try_from(other).expect("below a length"));
            }
        }
        order
    }
}

/// A hash of all cells.
fn hash(rows: &[Vec<Cell>]) -> String {
    let mut hasher = blake3::Hasher::new();
    for cell in rows.iter().flatten() {
        let Some(value) = cell.value() else {
            hasher.update(if *cell == Cell::Absent { b"-" } else { b"?" });
            continue;
        };
        hasher.update(value.ty().to_string().as_bytes());
        for element in value.elements() {
            match element {
                Value::Num(x) => hasher.update(&x.to_bits().to_le_bytes()),
                Value::Int(n) => hasher.update(&n.to_le_bytes()),
                Value::Bool(truth) => hasher.update(&[u8::from(truth)]),
                _ => &mut hasher,
            };
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// Sets an input at each row; at rows without data it is absent.
fn fill(rows: &mut [Vec<Cell>], input: usize, truth: &dyn Fn(usize) -> bool) {
    for (number, row) in rows.iter_mut().enumerate() {
        if row.iter().any(Cell::is_present) {
            row[input] = Cell::Value(Value::Bool(truth(number)));
        }
    }
}

/// Removes targets where `bp` is false: a table has a target in each row.
fn clear_unused_targets(rows: &mut [Vec<Cell>], bp: usize) {
    for row in rows.iter_mut().filter(|row| row[bp] == Cell::Value(Value::Bool(false))) {
        row[bp + 1..].fill(Cell::Absent);
    }
}

/// The warning about sequences with rows to learn from whose first row has `bp` false.
fn unlearnt_sequences(rows: &[Vec<Cell>], units: &[Range<usize>], bp: usize) -> Option<String> {
    let holds = |row: &Vec<Cell>| row[bp] == Cell::Value(Value::Bool(true));
    let is_never_learnt = |unit: &&Range<usize>| {
        let rows = &rows[(*unit).clone()];
        rows.first().is_some_and(|first| !holds(first)) && rows.iter().any(holds)
    };
    let n = units.iter().filter(is_never_learnt).count();
    (n > 0).then(|| {
        let of = units.len();
        format!("`bp` is false at the first row of {n} of {of} sequences, so nothing is learnt from them; to judge only some rows, let the loss weigh them")
    })
}

/// The rows of each sequence, its end included.
fn sequences(rows: &[Vec<Cell>], end: usize) -> Vec<Range<usize>> {
    let (mut found, mut start) = (Vec::new(), 0);
    for (number, row) in rows.iter().enumerate() {
        if row[end] == Cell::Value(Value::Bool(true)) {
            found.push(start..number + 1);
            start = number + 1;
        }
    }
    if start < rows.len() {
        found.push(start..rows.len());
    }
    found
}
