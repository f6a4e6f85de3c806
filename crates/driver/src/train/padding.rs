//! Batches of sequences of different lengths: `--batch N --pad`.
//!
//! A sequence that ends before the longest one of its group goes on with copies of that one's rows, which are
//! masked: their losses have the weight 0 in the gradient, and do not count in the mean. This is right only
//! if no answer depends on later rows; a node that looks ahead is refused. A group with too few members is
//! filled up with masked copies.
//!
//! The weights make the gradient that of the mean over the sequences of the group. The streams of a batch
//! have weight 1/N each, so with m sequences in the group each weight is N/m. With `segment mean` the
//! gradient is divided by the number of rows with a loss, which is that of the whole group: a weight
//! multiplies by it, and divides by the number of the sequence.

use std::borrow::Cow;

use eddy_batch::Batch;
use eddy_flow::Flow;
use eddy_language::elaborate::BatchLoss;
use eddy_language::semantics::Cell;
use eddy_tensor::slices::stack;
use eddy_tensor::{Data, Shape, Value};

use super::TrainRequest;
use super::batches::EpochRow;
use super::dataset::UnitRows;
use super::signals::Signals;

/// How groups are padded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Padding {
    pub signals: Signals,
    pub batch_loss: BatchLoss,
    /// Whether the gradient of a sequence is the mean over its rows.
    pub is_mean: bool,
}

/// Whether padding could help.
pub(super) fn can_be_padded(request: &TrainRequest) -> bool {
    !request.pad
}

/// A group, and what is computed once for it.
struct Group<'a> {
    units: Vec<UnitRows<'a>>,
    n_streams: usize,
    n_rows: usize,
    /// The longest unit.
    longest: usize,
    /// The weight of the losses of each unit.
    weights: Vec<f64>,
}

impl Padding {
    /// Whether two rows at the same place can run together: the inputs that all streams share are equal,
    /// except those that padding takes care of.
    pub fn fits(&self, flow: &Flow, batch: &Batch, left: &[Cell], right: &[Cell]) -> bool {
        let own = [self.signals.end, self.signals.bp];
        let judged = self.signals.bp.map_or(left.len(), |bp| bp + 1);
        flow.inputs.iter().zip(left.iter().zip(right)).enumerate().all(|(input, (var, (left, right)))| {
            let is_present = |cell: &Cell| matches!(cell, Cell::Value(_));
            match (left, right) {
                // Targets of rows that are not judged are absent, and replaced.
                _ if own.contains(&Some(input)) || input >= judged => true,
                (left, right) if batch.is_wide(*var) => is_present(left) == is_present(right),
                (left, right) => left == right,
            }
        })
    }

    /// The rows of a group of units that fit together.
    pub fn rows<'a>(
        self,
        units: Vec<UnitRows<'a>>,
        flow: &'a Flow,
        batch: &'a Batch,
    ) -> impl Iterator<Item = EpochRow<'a>> + 'a {
        let group = self.group(units, batch.n);
        (0..group.n_rows).map(move |row| self.row(&group, row, flow, batch))
    }

    #[allow(clippy::cast_precision_loss)] // there are fewer than 2^53 rows
    fn group(self, units: Vec<UnitRows<'_>>, n_streams: usize) -> Group<'_> {
        let lengths = || units.iter().map(|unit| unit.rows.len());
        let n_rows = lengths().max().unwrap_or(0);
        let longest = lengths().position(|length| length == n_rows).unwrap_or(0);
        let judged = |unit: &UnitRows<'_>| unit.rows.iter().filter(|row| self.is_judged(row)).count();
        let of_group = (0..n_rows)
            .filter(|row| units.iter().any(|unit| unit.rows.get(*row).is_some_and(|row| self.is_judged(row))))
            .count();
        let part = match self.batch_loss {
            BatchLoss::Mean => n_streams as f64 / units.len() as f64,
            BatchLoss::Sum => 1.0,
        };
        let weight = |unit: &UnitRows<'_>| {
            let rows = judged(unit);
            if self.is_mean && rows > 0 { part * of_group as f64 / rows as f64 } else { part }
        };
        let weights = units.iter().map(weight).collect();
        Group { units, n_streams, n_rows, longest, weights }
    }

    /// Whether the row has a loss.
    fn is_judged(&self, row: &[Cell]) -> bool {
        self.signals.bp.is_none_or(|bp| row[bp].truth() == Some(true))
    }

    fn row<'a>(self, group: &Group<'_>, row: usize, flow: &Flow, batch: &Batch) -> EpochRow<'a> {
        let own = |stream: usize| group.units.get(stream).and_then(|unit| unit.rows.get(row));
        let longest: &[Cell] = &group.units[group.longest].rows[row];
        let is_real = |stream: usize| own(stream).is_some_and(|row| self.is_judged(row));
        let mask: Box<[bool]> = (0..group.n_streams).map(is_real).collect();
        // Some stream has a loss here; its targets stand in for those of the others.
        let judged = mask.iter().position(|is_real| *is_real).and_then(own);
        let truth = |truth: bool| Cell::Value(Value::Bool(truth));
        let n_inputs = longest.len();
        let mut cells = Vec::with_capacity(n_inputs + 1);
        for (input, var) in flow.inputs.iter().enumerate().take(n_inputs) {
            if self.signals.end == Some(input) {
                cells.push(truth(row + 1 == group.n_rows));
                continue;
            }
            if self.signals.bp == Some(input) {
                let given = longest[input] != Cell::Absent || judged.is_some();
                cells.push(if given { truth(judged.is_some()) } else { Cell::Absent });
                continue;
            }
            let is_target = self.signals.bp.is_some_and(|bp| input > bp);
            let substitute =
                if is_target { judged.map_or(&Cell::Absent, |row| &row[input]) } else { &longest[input] };
            if !batch.is_wide(*var) {
                cells.push(substitute.clone());
                continue;
            }
            let of_stream = |stream: usize| match own(stream) {
                Some(row) if !is_target || mask[stream] => row[input].value(),
                _ => substitute.value(),
            };
            let values: Option<Vec<&Value>> = (0..group.n_streams).map(of_stream).collect();
            cells.push(values.map_or_else(|| substitute.clone(), |values| Cell::Value(stack(&values))));
        }
        if flow.inputs.len() > n_inputs {
            let weight = |stream: usize| if mask[stream] { group.weights[stream] } else { 0.0 };
            let weights = Data::Num((0..group.n_streams).map(weight).collect());
            let weights = Value::new(Shape::new(&[group.n_streams]), weights).expect("one for each stream");
            cells.push(if judged.is_some() { Cell::Value(weights) } else { Cell::Absent });
        }
        EpochRow { cells: Cow::Owned(cells), mask: Some(mask) }
    }
}
