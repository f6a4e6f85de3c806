//! Groups samples or sequences that are learnt from at once: `--batch N`.
//!
//! The samples or sequences come in the order of the epoch. Without padding, each joins a waiting group with
//! which it can run: all members of a group have equal length, and equal values of the inputs that the
//! streams of a batch share, such as `end`. A group runs when it has N members; smaller groups are left out
//! of the epoch, and counted.
//!
//! With padding ([`padding`](super::padding)), N units that follow each other form a group, whatever their
//! lengths, and the last groups may be smaller.

use std::borrow::Cow;

use eddy_batch::Batch;
use eddy_flow::Flow;
use eddy_language::codes;
use eddy_language::prepare::Prepared;
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, Span};

use super::TrainRequest;
use super::dataset::{Dataset, Order, Unit, UnitRows, Units, rows_of};
use super::padding::{Padding, can_be_padded};
use crate::lock_step::{go_together, joined};
use crate::stream::Stopped;

/// A row of an epoch.
pub(super) struct EpochRow<'a> {
    pub cells: Cow<'a, [Cell]>,
    /// In a padded batch, whether each stream has a row of its own with a loss here.
    pub mask: Option<Box<[bool]>>,
}

/// The rows of an epoch.
pub(super) type EpochRows<'a> = Box<dyn Iterator<Item = Result<EpochRow<'a>, Stopped>> + 'a>;

/// The rows of an epoch, joined from several units for a batch.
pub(super) fn rows<'a>(
    data: &'a Dataset,
    order: Order,
    prepared: &'a Prepared,
    padding: Option<&'a Padding>,
) -> EpochRows<'a> {
    let units = data.units(prepared, order);
    let Some(batch) = &prepared.batch else {
        return Box::new(units.flat_map(rows_of).map(|row| Ok(EpochRow { cells: row?, mask: None })));
    };
    let groups = Groups { units, waiting: Vec::new(), flow: &prepared.flow, batch, padding };
    Box::new(groups.flat_map(move |group| -> EpochRows<'a> {
        match (group, padding) {
            (Err(stopped), _) => Box::new(std::iter::once(Err(stopped))),
            (Ok(group), Some(padding)) => Box::new(padding.rows(group, &prepared.flow, batch).map(Ok)),
            (Ok(group), None) => Box::new((0..group[0].rows.len()).map(move |row| {
                let streams: Vec<&[Cell]> = group.iter().map(|unit| unit.rows[row].as_slice()).collect();
                let cells = joined(&prepared.flow, batch, &streams);
                let cells = cells.unwrap_or_else(|_| unreachable!("the members of a group can run together"));
                Ok(EpochRow { cells: Cow::Owned(cells), mask: None })
            })),
        }
    }))
}

/// The cells of the rows of an epoch, up to the first that cannot be read.
pub(super) fn cells<'a>(
    data: &'a Dataset,
    order: Order,
    prepared: &'a Prepared,
    padding: Option<&'a Padding>,
) -> impl Iterator<Item = Cow<'a, [Cell]>> + 'a {
    rows(data, order, prepared, padding).map_while(|row| row.ok().map(|row| row.cells))
}

/// Which rows of the data, counted from 1, are row `number` of an epoch: several with a batch.
pub(super) fn rows_of_data(
    data: &Dataset,
    order: Order,
    prepared: &Prepared,
    padding: Option<&Padding>,
    mut number: usize,
) -> Vec<usize> {
    let units = data.units(prepared, order);
    let groups: Box<dyn Iterator<Item = Result<Vec<UnitRows<'_>>, Stopped>>> = match &prepared.batch {
        Some(batch) => Box::new(Groups { units, waiting: Vec::new(), flow: &prepared.flow, batch, padding }),
        None => Box::new(units.map(|unit| Ok(vec![unit?]))),
    };
    for group in groups.map_while(Result::ok) {
        let n_rows = group.iter().map(|unit| unit.rows.len()).max().unwrap_or(0);
        if number < n_rows {
            let with_row = group.iter().filter(|unit| number < unit.rows.len());
            return with_row.map(|unit| unit.first_row + number + 1).collect();
        }
        number -= n_rows;
    }
    Vec::new()
}

/// Units that run at once.
struct Groups<'a> {
    units: Units<'a>,
    waiting: Vec<Vec<UnitRows<'a>>>,
    flow: &'a Flow,
    batch: &'a Batch,
    padding: Option<&'a Padding>,
}

impl Groups<'_> {
    fn fits(&self, left: &UnitRows<'_>, right: &UnitRows<'_>) -> bool {
        let mut rows = left.rows.iter().zip(right.rows.iter());
        match self.padding {
            Some(padding) => rows.all(|(left, right)| padding.fits(self.flow, self.batch, left, right)),
            None => {
                left.rows.len() == right.rows.len()
                    && rows.all(|(left, right)| go_together(self.flow, self.batch, left, right))
            }
        }
    }
}

impl<'a> Iterator for Groups<'a> {
    type Item = Result<Vec<UnitRows<'a>>, Stopped>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let unit = match self.units.next() {
                Some(Ok(unit)) => unit,
                Some(Err(stopped)) => return Some(Err(stopped)),
                // The last groups are smaller.
                None if self.padding.is_some() && !self.waiting.is_empty() => {
                    return Some(Ok(self.waiting.remove(0)));
                }
                None => return None,
            };
            let fits = |group: &Vec<UnitRows<'_>>| group.iter().all(|member| self.fits(member, &unit));
            // Without padding all members are alike.
            let fits_first = |group: &Vec<UnitRows<'_>>| self.fits(&group[0], &unit);
            let found = match self.padding {
                Some(_) => self.waiting.iter().position(fits),
                None => self.waiting.iter().position(fits_first),
            };
            let at = found.unwrap_or_else(|| {
                self.waiting.push(Vec::new());
                self.waiting.len() - 1
            });
            self.waiting[at].push(unit);
            if self.waiting[at].len() == self.batch.n {
                return Some(Ok(self.waiting.remove(at)));
            }
        }
    }
}

/// Checks that at least one group is complete; returns notes about the rest.
pub(super) fn check(
    data: &mut Dataset,
    prepared: &Prepared,
    unit: Unit,
    request: &TrainRequest,
    span: Span,
) -> Result<(), Vec<Diagnostic>> {
    let Some(batch) = &prepared.batch else { return Ok(()) };
    let n = batch.n;
    let what = match unit {
        Unit::Row => "samples",
        Unit::Sequence => "sequences",
        Unit::Whole => {
            let title = format!(
                "`--batch {n}` learns from samples or sequences, and here each row follows from the one before"
            );
            let help = "write `segment` in the `train` declaration: then a column `end`, or `--sequence`, says where sequences end";
            return Err(vec![Diagnostic::error(codes::BATCH, span, title).help(help)]);
        }
    };
    if request.pad {
        return Ok(());
    }
    let units = data.units(prepared, Order::PLAIN);
    let groups = Groups { units, waiting: Vec::new(), flow: &prepared.flow, batch, padding: None };
    let n_taken = n * groups.map_while(Result::ok).count();
    let n_units = data.n_units();
    let shared = prepared.flow.inputs.iter().filter(|input| !batch.is_wide(**input));
    if n_taken == 0 {
        let title = format!("no {n} of the {n_units} {what} in the data can run as one batch");
        let names: Vec<String> = shared
            .map(|input| format!("`{}`", prepared.flow.var(*input).name.as_deref().unwrap_or_default()))
            .collect();
        let names = if names.is_empty() { "none here".to_string() } else { names.join(", ") };
        let reason = format!(
            "the {what} of a batch have equal lengths, and equal values of the inputs that all streams share: {names}"
        );
        let help = if can_be_padded(request) {
            "choose a smaller `--batch`, or pad the shorter ones: `--pad`"
        } else {
            "choose a smaller `--batch`"
        };
        return Err(vec![Diagnostic::error(codes::BATCH, span, title).reason(reason).help(help)]);
    }
    if n_taken < n_units {
        let left = n_units - n_taken;
        data.notes.push(format!(
            "{left} of {n_units} {what} are left out of each epoch: no {n} of them can run as one batch"
        ));
    }
    Ok(())
}
