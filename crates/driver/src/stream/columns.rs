//! Several data files as one source of rows: each supplies some of the inputs.
//!
//! Rows may be peeked at before the program runs ([`Columns::look_ahead`]); each file keeps the peeked rows.
//! The file of an input that is read on demand is not read until the program requests it
//! ([`Columns::next_of`]).

use std::collections::VecDeque;
use std::io::{BufReader, Read};
use std::sync::{Arc, Mutex};

use eddy_formats::categories::{Numbered, SharedCategories, locked};
use eddy_formats::mapping::{Holes, Layouts};
use eddy_formats::records::Separator;
use eddy_formats::rows::Place;
use eddy_formats::{
    BadData, ColumnKind, Csv, Encoding, JsonLines, Mapping, Npy, Npz, Raw, Row, Rows, json_lines,
};
use eddy_language::program::Enumerations;
use eddy_language::semantics::Cell;
use eddy_tensor::Static;
use rustc_hash::FxHashMap;

use super::Stopped;
use super::in_memory::{self, InMemory};
use crate::data::{Content, Data, Format};

/// How data are read, with the tables of categories that all readers share.
#[derive(Clone)]
pub(crate) struct SharedEncoding {
    pub columns: Vec<Mapping>,
    categories: Vec<SharedCategories>,
    missing: Vec<String>,
    holes: Holes,
    /// Columns that are read as texts, after the inputs.
    pub extra: Vec<String>,
}

impl SharedEncoding {
    pub fn new(encoding: &Encoding) -> SharedEncoding {
        let shared = |table: &eddy_formats::Categories| Arc::new(Mutex::new(table.clone()));
        SharedEncoding {
            columns: encoding.columns.clone(),
            categories: encoding.categories.iter().map(shared).collect(),
            missing: encoding.missing.clone(),
            holes: if encoding.skips_missing { Holes::Absent } else { Holes::Kept },
            extra: Vec::new(),
        }
    }

    /// The texts of all columns so far, which are all from now on.
    pub fn close(&self) -> Vec<eddy_formats::Categories> {
        let closed = |table: &SharedCategories| {
            let mut table = locked(table);
            table.is_open = false;
            table.clone()
        };
        self.categories.iter().map(closed).collect()
    }

    /// The table of a column.
    fn table(&self, column: &str) -> Option<SharedCategories> {
        self.categories.iter().find(|table| locked(table).column == *column).cloned()
    }
}

/// A file and the inputs that it supplies.
struct InputFile {
    file: String,
    rows: Box<dyn Rows + Send>,
    /// Whether reading never blocks.
    never_blocks: bool,
    /// The input in `NAME=FILE`.
    of_input: Option<usize>,
    /// For each of its columns the number of the input.
    inputs: Vec<usize>,
    /// Rows that were peeked at and not yet taken.
    ahead: VecDeque<Result<Row, BadData>>,
    is_ended: bool,
    /// Whether it is read only on demand of the program.
    is_demanded: bool,
}

/// All data files.
pub(crate) struct Columns {
    sources: Vec<InputFile>,
    inputs: Vec<String>,
    /// For each input, its value if no file has a column for it.
    defaults: Vec<Option<Raw>>,
    /// Whether the program computes in single precision, so that some finite numbers are out of range.
    pub is_single: bool,
}

impl Columns {
    /// `defaults` are the values of inputs for which the data have no column. The cells of the encoding's
    /// extra columns follow those of the inputs.
    pub fn new(
        data: Vec<Data>,
        mut inputs: Vec<String>,
        enumerations: &Enumerations,
        defaults: &FxHashMap<String, Static>,
        encoding: &SharedEncoding,
    ) -> Result<Self, Stopped> {
        let n_inputs = inputs.len();
        inputs.extend(encoding.extra.iter().cloned());
        let mut sources: Vec<InputFile> = Vec::new();
        for Data { name, input, content } in data {
            let opened = Data { name: name.clone(), input, content }.opened();
            let Data { input, content, .. } =
                opened.map_err(|error| refused(&name, format!("the file cannot be read: {error}")))?;
            let of_input = match input {
                None => None,
                Some(input) => match inputs[..n_inputs].iter().position(|other| *other == input) {
                    Some(number) => Some(number),
                    None => return Err(refused(&name, format!("there is no input `{input}`"))),
                },
            };
            let numbers: Vec<usize> = match of_input {
                Some(number) => vec![number],
                None => (0..inputs.len()).collect(),
            };
            let is_again =
                |other: &&InputFile| other.of_input == of_input && (of_input.is_some() || other.file == name);
            if let Some(other) = sources.iter().find(is_again) {
                let message = match of_input {
                    Some(number) => {
                        format!("the input `{}` is read from `{}` already", inputs[number], other.file)
                    }
                    None => "this file is read already".to_string(),
                };
                return Err(refused(&name, message));
            }
            let names: Vec<String> = numbers.iter().map(|number| inputs[*number].clone()).collect();
            let never_blocks = !matches!(content, Content::Bytes { never_blocks: false, .. });
            let n_own = numbers.iter().filter(|number| **number < n_inputs).count();
            let rows = rows(&name, content, names, n_own, enumerations, encoding)?;
            let (ahead, is_ended, is_demanded) = (VecDeque::new(), false, false);
            sources.push(InputFile {
                file: name,
                rows,
                never_blocks,
                of_input,
                inputs: numbers,
                ahead,
                is_ended,
                is_demanded,
            });
        }
        if sources.is_empty() {
            inputs.truncate(n_inputs);
        }
        let default = |input: &String| defaults.get(input).map(raw);
        let defaults = inputs.iter().map(default).collect();
        Ok(Columns { sources, inputs, defaults, is_single: false })
    }

    /// Whether reading the next row may block.
    pub fn is_waiting(&self) -> bool {
        self.sources.iter().any(InputFile::is_waiting)
    }

    /// Whether peeking further may block.
    pub fn is_waiting_ahead(&self) -> bool {
        self.sources.iter().any(|source| !source.is_ended && source.rows.is_waiting())
    }

    /// Whether an input has a file of its own.
    pub fn has_own_file(&self, input: usize) -> bool {
        self.sources.iter().any(|source| source.of_input == Some(input))
    }

    /// From now on, reads the file of this input only on demand.
    pub fn demand(&mut self, input: usize) {
        if let Some(source) = self.own_source(input) {
            source.is_demanded = true;
        }
    }

    fn own_source(&mut self, input: usize) -> Option<&mut InputFile> {
        self.sources.iter_mut().find(|source| source.of_input == Some(input))
    }

    /// The next row of the file of an input, after at most `n_passed_over` rows without a value; `None` at
    /// the end.
    pub fn next_of(&mut self, input: usize, n_passed_over: usize) -> Result<Option<Row>, Stopped> {
        let n_inputs = self.inputs.len();
        let Some(source) = self.own_source(input) else { return Ok(None) };
        for _ in 0..n_passed_over {
            match source.next_row()? {
                Some(row) if row.cells[0] == Raw::Absent => {}
                row => return Ok(row.map(|row| widened(row, input, n_inputs))),
            }
        }
        Ok(source.next_row()?.map(|row| widened(row, input, n_inputs)))
    }

    /// Whether there are files that are not read on demand; these determine the length of a run.
    pub fn has_other_files(&self) -> bool {
        self.sources.iter().any(|source| !source.is_demanded)
    }

    /// The inputs whose files contain more values than the program requested. Pipes are not checked: they may
    /// never end.
    pub fn unread(&mut self) -> Vec<(String, String)> {
        let mut unread = Vec::new();
        for source in self.sources.iter_mut().filter(|source| source.is_demanded && source.never_blocks) {
            while let Ok(Some(row)) = source.next_row() {
                if row.cells[0] != Raw::Absent {
                    let input = source.of_input.map(|input| self.inputs[input].clone());
                    unread.push((input.unwrap_or_default(), source.file.clone()));
                    break;
                }
            }
        }
        unread
    }

    /// The next row; `None` when the data end. Without data there are as many rows as requested.
    pub fn next_row(&mut self, is_bounded: bool) -> Result<Option<Row>, Stopped> {
        if !self.has_other_files() {
            let mut row = self.empty_row();
            self.fill_in(&mut row);
            return Ok((is_bounded || self.has_data()).then_some(row));
        }
        let mut row = self.empty_row();
        let mut given_by: Vec<Option<usize>> = vec![None; self.inputs.len()];
        let mut has_some = false;
        for number in 0..self.sources.len() {
            if self.sources[number].is_demanded {
                continue;
            }
            let Some(part) = self.sources[number].next_row()? else { continue };
            has_some = true;
            for (input, cell) in self.sources[number].inputs.iter().zip(part.cells) {
                if cell == Raw::Absent {
                    continue;
                }
                if let Some(other) = given_by[*input].replace(number) {
                    return Err(self.twice(*input, other, number, part.place));
                }
                row.cells[*input] = cell;
            }
            row.place = part.place;
        }
        self.fill_in(&mut row);
        Ok(has_some.then_some(row))
    }

    /// Gives the inputs for which no file has a column their defaults.
    fn fill_in(&self, row: &mut Row) {
        for (input, default) in self.defaults.iter().enumerate() {
            if let Some(default) = default
                && row.cells[input] == Raw::Absent
                && !self.has_column(input)
            {
                row.cells[input] = default.clone();
            }
        }
    }

    /// The error when two files supply one input at one cycle.
    fn twice(&self, input: usize, first: usize, second: usize, place: Place) -> Stopped {
        let (name, first, file) =
            (&self.inputs[input], &self.sources[first].file, &self.sources[second].file);
        let message = format!("`{name}` is given here and in `{first}` at the same cycle");
        let bytes = json_lines::find(&place.text, name);
        Stopped::Data { file: file.clone(), bad: BadData { place, bytes, message } }
    }

    /// Peeks at one more row of each file that supplies one of these inputs, before the program runs; `None`
    /// when the files end, or contain an error, which is reported when the program reaches it.
    pub fn look_ahead(&mut self, awaited: &[usize]) -> Option<Row> {
        let mut row = self.empty_row();
        let mut has_some = false;
        for source in &mut self.sources {
            if !source.inputs.iter().any(|input| awaited.contains(input)) {
                continue;
            }
            match source.rows.next_row() {
                Ok(Some(part)) => {
                    has_some = true;
                    for (input, cell) in source.inputs.iter().zip(&part.cells) {
                        if cell.is_value() {
                            row.cells[*input] = cell.clone();
                        }
                    }
                    source.ahead.push_back(Ok(part));
                }
                Ok(None) => source.is_ended = true,
                Err(bad) => {
                    source.ahead.push_back(Err(bad));
                    return None;
                }
            }
        }
        self.fill_in(&mut row);
        has_some.then_some(row)
    }

    /// The first error among the rows that were peeked at. It explains why a program could not be prepared
    /// for the data.
    pub fn peeked_error(&mut self) -> Option<Stopped> {
        self.sources.iter_mut().find_map(|source| {
            let at = source.ahead.iter().position(Result::is_err)?;
            let bad = source.ahead.remove(at)?.err()?;
            Some(Stopped::Data { file: source.file.clone(), bad })
        })
    }

    fn empty_row(&self) -> Row {
        Row::absent(self.inputs.len())
    }

    /// The names of columns that match no input.
    pub fn unused(&self) -> Vec<String> {
        // A file for one input may have other columns, so they are not reported.
        let whole = self.sources.iter().filter(|source| source.of_input.is_none());
        whole.flat_map(|source| source.rows.unused().to_vec()).collect()
    }

    /// Whether there are any data.
    pub fn has_data(&self) -> bool {
        !self.sources.is_empty()
    }

    /// The inputs for which no file has a column or a key. A file that was not read yet may still have one.
    pub fn missing(&self) -> Vec<&str> {
        let is_missing = |input: &usize| !self.has_column(*input) && self.defaults[*input].is_none();
        (0..self.inputs.len()).filter(is_missing).map(|input| &*self.inputs[input]).collect()
    }

    /// Whether a file has a column or a key for an input.
    fn has_column(&self, input: usize) -> bool {
        self.sources.iter().any(|source| {
            if source.is_demanded && source.of_input == Some(input) {
                return true;
            }
            let mut columns = source.inputs.iter().enumerate();
            columns.any(|(column, number)| *number == input && source.rows.mentions(column))
        })
    }

    /// Whether the data have a column of this name that no input reads.
    pub fn has_unused(&self, name: &str) -> bool {
        self.unused().iter().any(|unused| unused == name)
    }

    /// The same rows for a program in single precision.
    pub fn in_single_precision(self) -> Self {
        Columns { is_single: true, ..self }
    }

    /// The error for a cell of the wrong type.
    pub fn bad(&self, row: &Row, name: &str, message: String) -> Stopped {
        let number = self.inputs.iter().position(|input| input == name);
        let has_it = |source: &&InputFile| match number {
            Some(number) => source.inputs.contains(&number),
            None => source.rows.unused().iter().any(|unused| unused == name),
        };
        let source = self.sources.iter().find(has_it);
        let bytes = json_lines::find(&row.place.text, name);
        let file = source.map_or_else(|| "<data>".to_string(), |source| source.file.clone());
        Stopped::Data { file, bad: BadData { place: row.place.clone(), bytes, message } }
    }
}

impl InputFile {
    fn next_row(&mut self) -> Result<Option<Row>, Stopped> {
        let next = match self.ahead.pop_front() {
            Some(row) => row.map(Some),
            None if self.is_ended => Ok(None),
            None => self.rows.next_row(),
        };
        self.is_ended |= matches!(next, Ok(None));
        next.map_err(|bad| Stopped::Data { file: self.file.clone(), bad })
    }

    fn is_waiting(&self) -> bool {
        !self.is_ended && self.ahead.is_empty() && self.rows.is_waiting()
    }
}

/// A reader of data for inputs of these names; those after the first `n_own` are extra columns of texts.
fn rows(
    file: &str,
    content: Content,
    mut inputs: Vec<String>,
    n_own: usize,
    enumerations: &Enumerations,
    encoding: &SharedEncoding,
) -> Result<Box<dyn Rows + Send>, Stopped> {
    let (format, reader) = match content {
        Content::Bytes { format, reader, .. } => (format, reader),
        Content::File { .. } => unreachable!("files were opened"),
        Content::Cells(columns) => return in_memory(file, columns, &inputs, encoding),
        Content::Tensors(tensors) => {
            let columns = in_memory::columns(tensors).map_err(|message| refused(file, message))?;
            return in_memory(file, columns, &inputs, encoding);
        }
    };
    let bad = |bad: BadData| Stopped::Data { file: file.to_string(), bad };
    if format == Format::Npy {
        if n_own != 1 {
            return Err(refused(file, "an array is for one input: write `--in NAME=FILE`".to_string()));
        }
        inputs.truncate(n_own);
        return Ok(Box::new(Npy::new(reader).map_err(bad)?));
    }
    // The header is read at once only if columns depend on it: a pipe may have nothing to read yet.
    let separator = if format == Format::Tsv { Separator::Tab } else { Separator::Comma };
    let needs_header = encoding.columns.iter().any(Mapping::needs_header);
    let mut csv: Option<Csv<Box<dyn Read + Send>>> = None;
    let mut json: Option<BufReader<Box<dyn Read + Send>>> = None;
    match format {
        Format::Csv | Format::Tsv => csv = Some(Csv::new(reader, separator, Vec::new())),
        _ => json = Some(reader),
    }
    let header = match &mut csv {
        Some(csv) if needs_header => csv.header().map_err(bad)?.to_vec(),
        None if needs_header => {
            let message = "`*` and ranges of columns need a header, as in CSV".to_string();
            return Err(refused(file, message));
        }
        _ => Vec::new(),
    };
    let layouts = Layouts::new(&inputs, &encoding.columns, &header, &encoding.extra)
        .map_err(|message| refused(file, message))?;
    let kinds = layouts.columns.iter().zip(&layouts.input_of).map(|(column, input)| {
        if *input >= n_own || encoding.table(column).is_some() {
            return ColumnKind::Texts;
        }
        enumerations.get(&inputs[*input]).cloned().map_or(ColumnKind::Values, ColumnKind::Enumerators)
    });
    let kinds: Vec<ColumnKind> = kinds.collect();
    let of_column = |(column, input): (&String, &usize)| encoding.table(column).filter(|_| *input < n_own);
    let tables: Vec<Option<SharedCategories>> =
        layouts.columns.iter().zip(&layouts.input_of).map(of_column).collect();
    let missing = encoding.missing.clone();
    let names = layouts.columns.clone();
    let rows: Box<dyn Rows + Send> = match (csv, json) {
        (Some(mut csv), _) => {
            csv.choose(names);
            Box::new(csv.with_kinds(kinds).with_missing(missing))
        }
        (None, Some(reader)) if format == Format::Npz => Box::new(Npz::new(reader, &names).map_err(bad)?),
        (None, Some(reader)) => {
            Box::new(JsonLines::new(reader, names).with_kinds(kinds).with_missing(missing))
        }
        (None, None) => unreachable!("one of both was set"),
    };
    let rows: Box<dyn Rows + Send> =
        if tables.iter().any(Option::is_some) { Box::new(Numbered::new(rows, tables)) } else { rows };
    Ok(if layouts.is_plain() { rows } else { Box::new(layouts.of(rows, encoding.holes)) })
}

/// Columns in memory for inputs of these names.
fn in_memory(
    file: &str,
    columns: Vec<(String, Vec<Cell>)>,
    inputs: &[String],
    encoding: &SharedEncoding,
) -> Result<Box<dyn Rows + Send>, Stopped> {
    if let Some(mapping) = encoding.columns.iter().find(|mapping| inputs.contains(&mapping.input)) {
        let message = format!("`{mapping}` is for files: data in memory have the names of the inputs");
        return Err(refused(file, message));
    }
    Ok(Box::new(InMemory::new(columns, inputs)))
}

/// A row of the file of one input, as a row of all inputs.
fn widened(mut row: Row, input: usize, n_inputs: usize) -> Row {
    let cell = row.cells.swap_remove(0);
    row.cells = vec![Raw::Absent; n_inputs];
    row.cells[input] = cell;
    row
}

fn refused(file: &str, message: String) -> Stopped {
    Stopped::Data { file: file.to_string(), bad: BadData::without_line(message) }
}

fn raw(constant: &Static) -> Raw {
    match constant {
        Static::Int(n) => Raw::Int(*n),
        Static::Num(x) => Raw::Num(*x),
        Static::List(items) => Raw::List(items.iter().map(|n| Raw::Int(*n)).collect()),
    }
}
