//! Reads the data of a training run: checks them, divides them, and finds what training learns about them.

use std::ops::Range;

use eddy_formats::Normalised;
use eddy_language::codes;
use eddy_language::prepare::Prepared;
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, Sources, Span};
use eddy_tensor::{Scalar, Value};

use super::TrainRequest;
use super::dataset::{Dataset, Fingerprint, MAX_CELLS, Stream, Unit};
use super::filling::Filling;
use super::signals::{Signals, name};
use super::skipping::Skipping;
use super::source::{RowReader, Source};
use super::survey::Survey;
use crate::normalisation::Moments;
use crate::stream::{Columns, Stopped};

/// What data are for, in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Training,
    Validation,
}

impl Purpose {
    pub fn words(self) -> &'static str {
        match self {
            Purpose::Training => "the data",
            Purpose::Validation => "the data for validation",
        }
    }
}

/// Data that were read.
pub(super) struct Read {
    pub data: Dataset,
    /// The part for validation, if the data were divided.
    pub rest: Option<Dataset>,
    /// The means and deviations of the inputs to normalise.
    pub normalised: Vec<Normalised>,
}

/// The data of a node, and what is known before they are read.
pub(super) struct Reading<'a> {
    pub prepared: &'a Prepared,
    pub signals: Signals,
    pub unit: Unit,
    /// The unit of the training data: whether each row is a sample.
    pub sample: Unit,
    pub request: &'a TrainRequest,
    pub purpose: Purpose,
    pub span: Span,
}

impl Reading<'_> {
    /// Reads all data, or surveys those that are streamed. The source is open already.
    pub fn read(
        &self,
        source: Source,
        columns: Columns,
        sources: &mut Sources,
    ) -> Result<Read, Vec<Diagnostic>> {
        let is_streamed = self.request.stream.is_some();
        if is_streamed && !source.is_repeatable() {
            return Err(self.refused(
                "`--stream` reads the data anew in each epoch, and a pipe can be read only once",
                "write the data into a file",
            ));
        }
        if is_streamed && self.request.split.is_some() {
            return Err(self.refused(
                "data that are streamed cannot be divided by `--split`",
                "give the data for validation a file of their own, `--validate FILE`",
            ));
        }
        let measured = self.measured(&source)?;
        let read = if is_streamed {
            self.survey(source, columns, &measured)
        } else {
            self.keep(&source, columns, &measured)
        };
        read.map_err(|stopped| stopped.diagnostics(sources))
    }

    /// The inputs that are normalised, by number.
    fn measured(&self, source: &Source) -> Result<Vec<usize>, Vec<Diagnostic>> {
        let mut measured = Vec::new();
        if self.purpose == Purpose::Validation {
            return Ok(measured);
        }
        let is_known =
            |name: &String| self.request.encoding.normalised.iter().any(|known| known.input == *name);
        for wanted in self.request.normalise.iter().filter(|name| !is_known(name)) {
            let Some(input) = source.names.iter().position(|name| name == wanted) else {
                let title = format!("there is no input `{wanted}` for `--normalize`");
                let help = format!("the inputs are `{}`", source.names.join("`, `"));
                return Err(self.refused(&title, &help));
            };
            let ty = self.prepared.input_types()[input];
            if self.signals.bp.is_some_and(|bp| input >= bp) || ty.scalar != Scalar::Num {
                let title = format!("`{wanted}` cannot be normalised");
                return Err(self.refused(
                    &title,
                    "only inputs of the node that are numbers can: an answer would be in the units of a normalised target",
                ));
            }
            if !measured.contains(&input) {
                measured.push(input);
            }
        }
        Ok(measured)
    }

    fn refused(&self, title: &str, help: &str) -> Vec<Diagnostic> {
        vec![Diagnostic::error(codes::DATA, self.span, title).help(help.to_string())]
    }

    fn skipping(&self) -> Option<Skipping> {
        let Prepared { flow, clocks, .. } = self.prepared;
        let is_asked = self.request.encoding.skips_missing;
        is_asked.then(|| Skipping::new(self.signals, self.sample, flow, clocks)).flatten()
    }

    fn checked(&self, survey: &Survey) -> Result<(), Stopped> {
        let Prepared { flow, clocks, .. } = self.prepared;
        survey.check(self.signals, self.purpose.words(), (flow, clocks), self.span).map_err(Stopped::Program)
    }

    /// Reads all rows into memory.
    fn keep(&self, source: &Source, columns: Columns, measured: &[usize]) -> Result<Read, Stopped> {
        let mut reader = RowReader::new(columns, self.prepared, source.names.len(), self.skipping());
        let mut survey = Survey::new(reader.n_inputs(), self.signals);
        let (mut rows, mut labels): (Vec<Vec<Cell>>, Vec<Option<String>>) = (Vec::new(), Vec::new());
        while let Some((row, label)) = reader.next_row()? {
            survey.add(&row);
            if self.request.split.as_ref().is_some_and(|split| split.column().is_some()) {
                labels.push(label);
            }
            rows.push(row);
            if rows.len() * reader.n_inputs() > MAX_CELLS {
                let title = format!("the data have more than {MAX_CELLS} cells; they are kept in memory");
                let diagnostic = Diagnostic::error(codes::TOO_MANY_CELLS, self.span, title);
                let help = "`--stream` reads them anew in each epoch";
                return Err(Stopped::Program(vec![diagnostic.help(help)]));
            }
        }
        survey.unused = reader.unused();
        self.checked(&survey)?;
        let (filling, mut notes) = Filling::new(&survey, self.signals, self.request, &self.prepared.flow);
        rows.iter_mut().enumerate().for_each(|(number, row)| filling.apply(row, number));
        notes.extend(reader.skipping.iter().flat_map(Skipping::notes));
        let units = self.units(&rows);
        let (units, rest) = match self.request.split.as_ref().filter(|_| self.purpose == Purpose::Training) {
            None => (units, None),
            Some(_) => {
                let [units, rest] = self.split(units, &labels)?;
                (units, Some(self.rest(&rows, &rest, &mut notes)))
            }
        };
        if let (Unit::Sequence, Some(bp), None) = (self.unit, self.signals.bp, self.signals.cut) {
            let sequences = units.iter().map(|unit| learns(&rows[unit.clone()], bp));
            notes.extend(unlearnt(sequences));
        }
        let mut moments = self.moments(measured);
        for row in units.iter().flat_map(|unit| &rows[unit.clone()]) {
            for (input, moments) in &mut moments {
                moments.add(&row[*input]);
            }
        }
        let normalised = self.normalised(&moments, &mut notes);
        let data = Dataset::in_memory(rows, units, notes, survey.hash());
        Ok(Read { data, rest, normalised })
    }

    /// Goes once through data that are not kept.
    fn survey(&self, source: Source, columns: Columns, measured: &[usize]) -> Result<Read, Stopped> {
        let mut reader = RowReader::new(columns, self.prepared, source.names.len(), self.skipping());
        let mut survey = Survey::new(reader.n_inputs(), self.signals);
        let mut fingerprint = Fingerprint::default();
        let mut moments = self.moments(measured);
        let mut ends = 0;
        while let Some((row, _)) = reader.next_row()? {
            survey.add(&row);
            fingerprint.add(&row);
            for (input, moments) in &mut moments {
                moments.add(&row[*input]);
            }
            ends += usize::from(self.signals.end.is_some_and(|end| row[end].truth() == Some(true)));
        }
        survey.unused = reader.unused();
        self.checked(&survey)?;
        let (filling, mut notes) = Filling::new(&survey, self.signals, self.request, &self.prepared.flow);
        notes.extend(reader.skipping.iter().flat_map(Skipping::notes));
        let normalised = self.normalised(&moments, &mut notes);
        let n_rows = survey.n_rows;
        let n_units = match (self.unit, self.signals.end) {
            (Unit::Row, _) => n_rows,
            (Unit::Sequence, Some(end)) if survey.is_given[end] => {
                ends + usize::from(survey.last[end].truth() != Some(true))
            }
            (Unit::Sequence, _) => n_rows.div_ceil(self.request.sequence.unwrap_or(n_rows)),
            (Unit::Whole, _) => 1,
        };
        let stream = Stream {
            source,
            skipping: self.skipping(),
            filling,
            unit: self.unit,
            end: self.signals.end,
            buffer: self.request.stream.unwrap_or(1),
            fingerprint,
        };
        let data = Dataset::stream(stream, (n_rows, n_units), notes, survey.hash());
        Ok(Read { data, rest: None, normalised })
    }

    /// The rows of each unit that is shuffled as a whole.
    fn units(&self, rows: &[Vec<Cell>]) -> Vec<Range<usize>> {
        match self.unit {
            Unit::Row => (0..rows.len()).map(|row| row..row + 1).collect(),
            Unit::Whole => std::iter::once(0..rows.len()).collect(),
            Unit::Sequence => sequences(rows, self.signals.end.expect("sequences have ends")),
        }
    }

    /// Divides the units into those to learn from and those for validation.
    fn split(
        &self,
        units: Vec<Range<usize>>,
        labels: &[Option<String>],
    ) -> Result<[Vec<Range<usize>>; 2], Stopped> {
        let split = self.request.split.as_ref().expect("it was asked for");
        // Rows that depend on the ones before are divided at one row.
        let single =
            |units: &[Range<usize>]| units.iter().flat_map(Clone::clone).map(|row| row..row + 1).collect();
        let is_whole = self.unit == Unit::Whole;
        let units: Vec<Range<usize>> = if is_whole { single(&units) } else { units };
        let chosen = split.chosen(self.unit, &units, labels, self.request.seed).map_err(|why| {
            let title = format!("the data cannot be divided: {why}");
            Stopped::Program(vec![Diagnostic::error(codes::DATA, self.span, title)])
        })?;
        let of = |part: bool| units.iter().zip(&chosen).filter(move |(_, chosen)| **chosen == part);
        let [own, rest] = [true, false]
            .map(|part| -> Vec<Range<usize>> { of(part).map(|(unit, _)| unit.clone()).collect() });
        let joined = |units: Vec<Range<usize>>| match (units.first(), units.last()) {
            (Some(first), Some(last)) if is_whole => std::iter::once(first.start..last.end).collect(),
            _ => units,
        };
        Ok([joined(own), joined(rest)])
    }

    /// The data for validation among these rows.
    fn rest(&self, rows: &[Vec<Cell>], units: &[Range<usize>], notes: &mut Vec<String>) -> Dataset {
        let rows: Vec<Vec<Cell>> = units.iter().flat_map(|unit| rows[unit.clone()].iter().cloned()).collect();
        let mut survey = Survey::new(rows.first().map_or(0, Vec::len), self.signals);
        for row in &rows {
            survey.add(row);
        }
        let n_rows = rows.len();
        let what = match self.unit {
            Unit::Sequence => format!(" in {} sequences", units.len()),
            _ => String::new(),
        };
        notes.push(format!("{n_rows} rows{what} are kept for validation"));
        Dataset::in_memory(rows, std::iter::once(0..n_rows).collect(), Vec::new(), survey.hash())
    }

    fn moments(&self, measured: &[usize]) -> Vec<(usize, Moments)> {
        let types = self.prepared.input_types();
        measured.iter().map(|input| (*input, Moments::new(types[*input]))).collect()
    }

    fn normalised(&self, moments: &[(usize, Moments)], notes: &mut Vec<String>) -> Vec<Normalised> {
        let mut all = Vec::new();
        for (input, moments) in moments {
            let name = name(&self.prepared.flow, *input);
            let Some((normalised, n_constant)) = moments.result(name) else { continue };
            if n_constant > 0 {
                let what = match normalised.mean.elements().count() {
                    1 => format!("`{name}` is the same in all rows: it becomes 0"),
                    n => format!(
                        "{n_constant} of {n} elements of `{name}` are the same in all rows: they become 0"
                    ),
                };
                notes.push(what);
            }
            all.push(normalised);
        }
        all
    }
}

/// Whether a sequence has rows to learn from, and whether `bp` holds at its first row.
fn learns(rows: &[Vec<Cell>], bp: usize) -> (bool, bool) {
    let holds = |row: &Vec<Cell>| row[bp] == Cell::Value(Value::Bool(true));
    (rows.iter().any(holds), rows.first().is_some_and(holds))
}

/// The warning about sequences with rows to learn from whose first row has `bp` false.
fn unlearnt(sequences: impl ExactSizeIterator<Item = (bool, bool)>) -> Option<String> {
    let of = sequences.len();
    let n = sequences.filter(|(has_rows, begins)| *has_rows && !*begins).count();
    (n > 0).then(|| {
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
