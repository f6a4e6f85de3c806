//! Several streams in lock-step: `--batch N`.
//!
//! Each stream has files of its own. Its rows are read as if it ran alone and joined cycle by cycle; the
//! results are split again into a line for each cycle and stream.

use eddy_batch::Batch;
use eddy_flow::VarId;
use eddy_formats::Row;
use eddy_language::codes;
use eddy_language::prepare::Prepared;
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Value;
use eddy_tensor::slices::split;

use super::{Row as Shown, Stopped, Stream};
use crate::data::Data;
use crate::lock_step::{Difference, joined};

/// The files of each stream. Among the files for the same input, and among those for no particular input, the
/// first belongs to the first stream, and so on.
pub(super) fn files_of_streams(data: Vec<Data>, n: usize, span: Span) -> Result<Vec<Vec<Data>>, Stopped> {
    let mut streams: Vec<Vec<Data>> = std::iter::repeat_with(Vec::new).take(n).collect();
    if n == 1 {
        streams[0] = data;
        return Ok(streams);
    }
    let mut groups: Vec<(Option<String>, Vec<Data>)> = Vec::new();
    for file in data {
        match groups.iter_mut().find(|(input, _)| *input == file.input) {
            Some((_, files)) => files.push(file),
            None => groups.push((file.input.clone(), vec![file])),
        }
    }
    for (input, files) in groups {
        if files.len() != n {
            let (are, what) = (
                if files.len() == 1 { "is 1 file".to_string() } else { format!("are {} files", files.len()) },
                input.map_or_else(String::new, |input| format!(" for `{input}`")),
            );
            let title = format!("a batch of {n} streams needs as many files{what}, and there {are}");
            let diagnostic = Diagnostic::error(codes::DATA, span, title).help(
                "write `--in` once for each stream, in their order; a file may be named more than once",
            );
            return Err(Stopped::Program(vec![diagnostic]));
        }
        streams.iter_mut().zip(files).for_each(|(stream, file)| stream.push(file));
    }
    Ok(streams)
}

/// The error if an output can show only one stream.
pub(super) fn only_one(batch: &Batch, span: Span) -> Diagnostic {
    let title = format!("{} streams at once cannot be shown so", batch.n);
    Diagnostic::error(codes::BATCH, span, title)
        .reason("tables, and the engines `denote` and `kahn`, are for one stream")
        .help("leave out `--batch`, or run with the engine `compiled` or `simulate`")
}

/// The cells of all streams at a cycle, joined.
pub(super) fn in_lock_step(
    stream: &Stream,
    prepared: &Prepared,
    batch: &Batch,
    rows: &[Option<Row>],
    cells: &[Vec<Cell>],
    cycle: u64,
) -> Result<Vec<Cell>, Stopped> {
    let of = |is_there: bool| rows.iter().position(|row| row.is_some() == is_there);
    if let (Some(first), Some(second)) = (of(true), of(false)) {
        let title = format!(
            "a batch runs in lock-step: stream {second} ends before cycle {cycle}, and stream {first} does not"
        );
        let span = stream.model.span();
        return Err(Stopped::Program(vec![Diagnostic::error(codes::DATA, span, title)]));
    }
    let cells: Vec<&[Cell]> = cells.iter().map(Vec::as_slice).collect();
    joined(&prepared.flow, batch, &cells).map_err(|Difference { input, first, second }| {
        let name = prepared.flow.var(prepared.flow.inputs[input]).name.as_deref().expect("inputs have names");
        let message = format!(
            "a batch runs in lock-step: at cycle {cycle}, `{name}` is {} in stream {first} and {} in stream {second}",
            described(&cells[first][input]),
            described(&cells[second][input]),
        );
        let row = rows[second].as_ref().expect("all streams have a row");
        stream.feeds[second].bad(row, name, message)
    })
}

fn described(cell: &Cell) -> String {
    match cell {
        Cell::Absent => "absent".to_string(),
        Cell::Value(value) => value.to_string(),
        _ => "unknown".to_string(),
    }
}

/// The rows of a cycle, one for each stream.
pub(super) fn rows_of_streams(
    batch: &Batch,
    shown: &[(String, VarId)],
    cycle: u64,
    row: &[Cell],
) -> Vec<Shown> {
    let values: Vec<Option<Vec<Value>>> = shown
        .iter()
        .zip(row)
        .map(|((_, var), cell)| cell.value().filter(|_| batch.is_wide(*var)).map(split))
        .collect();
    let of_stream = |stream: usize| {
        let cells = row.iter().zip(&values).map(|(cell, values)| match values {
            Some(values) => Cell::Value(values[stream].clone()),
            None => cell.clone(),
        });
        Shown { cycle, stream: Some(stream), cells: cells.collect() }
    };
    (0..batch.n).map(of_stream).collect()
}
