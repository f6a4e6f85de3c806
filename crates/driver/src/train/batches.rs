//! Groups samples or sequences that are learnt from at once: `--batch N`.
//!
//! The samples or sequences come in the order of the epoch, and each joins a waiting group with which it can
//! run. All members of a group have equal length, and equal values of the inputs that the streams of a batch
//! share, such as `end`. A group runs when it has N members; smaller groups are left out of the epoch.

use std::borrow::Cow;

use eddy_batch::Batch;
use eddy_flow::Flow;
use eddy_language::codes;
use eddy_language::prepare::Prepared;
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, Span};

use super::TrainRequest;
use super::dataset::{Dataset, Unit};
use crate::lock_step::{go_together, joined};

/// The rows of an epoch, joined from several units for a batch.
pub(super) fn rows<'a>(
    data: &'a Dataset,
    order: &'a [usize],
    prepared: &'a Prepared,
) -> Box<dyn Iterator<Item = Cow<'a, [Cell]>> + 'a> {
    let Some(batch) = &prepared.batch else { return Box::new(data.rows(order).map(Cow::Borrowed)) };
    let groups = groups(data, order, &prepared.flow, batch);
    Box::new(groups.into_iter().flat_map(move |group| {
        let n_rows = data.unit(group[0]).len();
        (0..n_rows).map(move |row| {
            let streams: Vec<&[Cell]> = group.iter().map(|unit| data.unit(*unit)[row].as_slice()).collect();
            let cells = joined(&prepared.flow, batch, &streams);
            Cow::Owned(cells.unwrap_or_else(|_| unreachable!("the members of a group can run together")))
        })
    }))
}

/// Which rows of the data, counted from 1, are row `number` of an epoch: several with a batch.
pub(super) fn rows_of_data(
    data: &Dataset,
    order: &[usize],
    prepared: &Prepared,
    mut number: usize,
) -> Vec<usize> {
    let groups = match &prepared.batch {
        Some(batch) => groups(data, order, &prepared.flow, batch),
        None => order.iter().map(|unit| vec![*unit]).collect(),
    };
    for group in groups {
        let n_rows = data.unit(group[0]).len();
        if number < n_rows {
            return group.iter().map(|unit| data.first_row(*unit) + number + 1).collect();
        }
        number -= n_rows;
    }
    Vec::new()
}

/// Units that run at once.
fn groups(data: &Dataset, order: &[usize], flow: &Flow, batch: &Batch) -> Vec<Vec<usize>> {
    let fits = |left: usize, right: usize| {
        let (left, right) = (data.unit(left), data.unit(right));
        left.len() == right.len()
            && left.iter().zip(right).all(|(left, right)| go_together(flow, batch, left, right))
    };
    let (mut full, mut waiting): (_, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
    for unit in order.iter().copied() {
        let at = waiting.iter().position(|group| fits(group[0], unit)).unwrap_or_else(|| {
            waiting.push(Vec::new());
            waiting.len() - 1
        });
        waiting[at].push(unit);
        if waiting[at].len() == batch.n {
            full.push(waiting.remove(at));
        }
    }
    full
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
    let order = data.order(false, request.seed, 0);
    let n_taken = n * groups(data, &order, &prepared.flow, batch).len();
    let n_units = data.n_units();
    if n_taken == 0 {
        let title = format!("no {n} of the {n_units} {what} in the data can run as one batch");
        let shared = prepared.flow.inputs.iter().filter(|input| !batch.is_wide(**input));
        let names: Vec<String> = shared
            .map(|input| format!("`{}`", prepared.flow.var(*input).name.as_deref().unwrap_or_default()))
            .collect();
        let names = if names.is_empty() { "none here".to_string() } else { names.join(", ") };
        let reason = format!(
            "the {what} of a batch have equal lengths, and equal values of the inputs that all streams share: {names}"
        );
        return Err(vec![
            Diagnostic::error(codes::BATCH, span, title).reason(reason).help("choose a smaller `--batch`"),
        ]);
    }
    if n_taken < n_units {
        let left = n_units - n_taken;
        data.notes.push(format!(
            "{left} of {n_units} {what} are left out of each epoch: no {n} of them can run as one batch"
        ));
    }
    Ok(())
}
