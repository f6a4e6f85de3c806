//! CSV and TSV: a header of names, a row per cycle, an empty cell for absence; scalars only.
//!
//! Decision: an empty line is no row, as in JSON lines and in most readers of CSV. In a file with a single
//! column, an absent cell is written as `""`.

use std::io::{BufReader, Read};

use crate::raw::Raw;
use crate::records::{Field, Records, Separator, fields};
use crate::rows::{BadData, ColumnKind, Place, Row, Rows};

/// The text that stands for absence in columns of numbers, besides the empty one. In columns of texts it is a
/// text like others: it is also the name of a country.
const NOT_AVAILABLE: &str = "NA";

/// Reads CSV or TSV.
pub struct Csv<R> {
    records: Records<R>,
    names: Vec<String>,
    header: Header,
    /// The column of each input, once they were looked up in the header.
    columns: Option<Vec<Option<usize>>>,
    unused: Vec<String>,
    kinds: Vec<ColumnKind>,
    /// Texts that stand for absence.
    missing: Vec<String>,
}

/// The first record.
enum Header {
    NotRead,
    /// The file is empty.
    Missing,
    Names {
        place: Place,
        names: Vec<String>,
    },
}

impl<R: Read> Csv<R> {
    /// Reads cells for these inputs.
    pub fn new(from: BufReader<R>, separator: Separator, names: Vec<String>) -> Self {
        let kinds = vec![ColumnKind::Values; names.len()];
        let (unused, missing) = (Vec::new(), Vec::new());
        let records = Records::new(from, separator);
        Csv { records, names, header: Header::NotRead, columns: None, unused, kinds, missing }
    }

    /// Reads these columns instead. To be called before the first row.
    pub fn choose(&mut self, names: Vec<String>) {
        self.kinds = vec![ColumnKind::Values; names.len()];
        self.names = names;
    }

    /// The kinds of the columns.
    #[must_use]
    pub fn with_kinds(mut self, kinds: Vec<ColumnKind>) -> Self {
        self.kinds = kinds;
        self
    }

    /// Reads these texts as absence.
    #[must_use]
    pub fn with_missing(mut self, missing: Vec<String>) -> Self {
        self.missing = missing;
        self
    }

    /// The names of all columns; none in an empty file.
    pub fn header(&mut self) -> Result<&[String], BadData> {
        if matches!(self.header, Header::NotRead) {
            self.header = match self.records.next_record()? {
                Some(place) => {
                    // A byte order mark is not part of a name.
                    let text = place.text.trim_start_matches('\u{FEFF}');
                    let fields = fields(text, self.records.separator());
                    let names = fields.into_iter().map(|field| field.text.into_owned()).collect();
                    Header::Names { place, names }
                }
                None => Header::Missing,
            };
        }
        Ok(self.names_in_header())
    }

    fn names_in_header(&self) -> &[String] {
        match &self.header {
            Header::Names { names, .. } => names,
            Header::NotRead | Header::Missing => &[],
        }
    }

    fn find_columns(&mut self) -> Result<(), BadData> {
        if self.columns.is_some() {
            return Ok(());
        }
        self.header()?;
        let Header::Names { place, names } = &self.header else {
            self.columns = Some(vec![None; self.names.len()]);
            return Ok(());
        };
        if let Some(name) =
            self.names.iter().find(|name| names.iter().filter(|other| other == name).count() > 1)
        {
            let message = format!("the header names `{name}` twice");
            return Err(BadData { place: place.clone(), bytes: 0..0, message });
        }
        self.columns =
            Some(self.names.iter().map(|name| names.iter().position(|other| other == name)).collect());
        self.unused = names.iter().filter(|name| !self.names.contains(name)).cloned().collect();
        Ok(())
    }
}

impl<R: Read> Rows for Csv<R> {
    fn is_waiting(&self) -> bool {
        !self.records.has_record()
    }

    fn next_row(&mut self) -> Result<Option<Row>, BadData> {
        self.find_columns()?;
        let Some(place) = self.records.next_record()? else { return Ok(None) };
        let record = fields(&place.text, self.records.separator());
        let n_columns = self.names_in_header().len();
        if record.len() != n_columns {
            let cells = if record.len() == 1 { "cell" } else { "cells" };
            let message = format!("the row has {} {cells}, but the header has {n_columns}", record.len());
            let bytes = 0..place.text.len();
            return Err(BadData { place, bytes, message });
        }
        let columns = self.columns.as_ref().expect("the header was read");
        let mut cells = Vec::with_capacity(columns.len());
        for ((name, column), kind) in self.names.iter().zip(columns).zip(&self.kinds) {
            let Some(Field { text, bytes }) = column.map(|column| &record[column]) else {
                cells.push(Raw::Absent);
                continue;
            };
            if self.missing.iter().any(|missing| missing == text) {
                cells.push(Raw::Absent);
                continue;
            }
            let cell = match kind {
                ColumnKind::Enumerators(cases) => enumerator(text, cases),
                ColumnKind::Values => cell(text),
                ColumnKind::Texts => Some(self::text(text)),
            };
            cells.push(cell.ok_or_else(|| {
                let is_number = text.parse::<f64>().is_ok();
                let message = if let ColumnKind::Enumerators(cases) = kind {
                    format!("`{name}` must be one of `{}`, not `{}`", cases.join("`, `"), shortened(text))
                } else if is_number {
                    format!("`{name}` is the number {text}, which is out of range")
                } else {
                    format!("`{name}` must be a number or a truth value, not `{}`", shortened(text))
                };
                BadData { place: place.clone(), bytes: bytes.clone(), message }
            })?);
        }
        Ok(Some(Row { cells, place }))
    }

    fn has_header(&self) -> bool {
        true
    }

    fn unused(&self) -> &[String] {
        &self.unused
    }

    fn mentions(&self, input: usize) -> bool {
        self.columns.as_ref().is_some_and(|columns| columns[input].is_some())
    }
}

/// A cell in a message, shortened if it is long.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

fn enumerator(text: &str, cases: &[String]) -> Option<Raw> {
    Some(match text {
        "" => Raw::Absent,
        "⊥" | "?" => Raw::Unknown,
        _ => Raw::Int(i64::try_from(cases.iter().position(|case| case == text)?).ok()?),
    })
}

fn text(text: &str) -> Raw {
    match text {
        "" => Raw::Absent,
        "⊥" | "?" => Raw::Unknown,
        _ => Raw::Text(text.to_string()),
    }
}

fn cell(text: &str) -> Option<Raw> {
    Some(match text {
        "" | NOT_AVAILABLE => Raw::Absent,
        "⊥" | "?" => Raw::Unknown,
        "true" => Raw::Bool(true),
        "false" => Raw::Bool(false),
        _ => match text.parse::<i64>() {
            Ok(n) => Raw::Int(n),
            // Rust's floats include `inf`, `-inf` and `nan`; a number that is too large would also become
            // `inf`.
            Err(_) => match text.parse::<f64>() {
                Ok(x) if x.is_infinite() && text.contains(|c: char| c.is_ascii_digit()) => return None,
                parsed => Raw::Num(parsed.ok()?),
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Result<Vec<Raw>, String>> {
        collect(Csv::new(
            BufReader::new(text.as_bytes()),
            Separator::Comma,
            vec!["x".to_string(), "y".to_string()],
        ))
    }

    fn collect(mut rows: impl Rows) -> Vec<Result<Vec<Raw>, String>> {
        let mut read = Vec::new();
        loop {
            match rows.next_row() {
                Ok(None) => return read,
                Ok(Some(row)) => read.push(Ok(row.cells)),
                Err(bad) => {
                    read.push(Err(bad.to_string()));
                    return read;
                }
            }
        }
    }

    #[test]
    fn columns_are_found_by_name() {
        assert_eq!(
            read("t, y ,x\n0,true,1\n1,,2.5\n"),
            [Ok(vec![Raw::Int(1), Raw::Bool(true)]), Ok(vec![Raw::Num(2.5), Raw::Absent]),]
        );
    }

    #[test]
    fn a_column_that_is_not_there_is_absent() {
        assert_eq!(read("x\n-inf\n"), [Ok(vec![Raw::Num(f64::NEG_INFINITY), Raw::Absent])]);
        assert_eq!(read(""), []);
    }

    #[test]
    fn an_empty_line_is_no_row_and_an_empty_cell_in_quotes_is_absent() {
        let absent = || Ok(vec![Raw::Absent, Raw::Absent]);
        let number = |n| Ok(vec![Raw::Int(n), Raw::Absent]);
        assert_eq!(read("x\n1\n\n3\n\n"), [number(1), number(3)]);
        assert_eq!(read("x\n1\n\"\"\n3\n"), [number(1), absent(), number(3)]);
    }

    #[test]
    fn texts_are_kept_and_some_stand_for_absence() {
        let names = vec!["kind".to_string(), "y".to_string()];
        let csv =
            |text: &'static str| Csv::new(BufReader::new(text.as_bytes()), Separator::Comma, names.clone());
        let text = |text: &str| Raw::Text(text.to_string());
        let kinds = || vec![ColumnKind::Texts, ColumnKind::Values];
        let rows = csv("kind,y\nred,NA\nNA,1\n,-\n").with_kinds(kinds()).with_missing(vec!["-".to_string()]);
        let expected =
            [vec![text("red"), Raw::Absent], vec![text("NA"), Raw::Int(1)], vec![Raw::Absent, Raw::Absent]];
        assert_eq!(collect(rows), expected.map(Ok));
    }

    #[test]
    fn columns_may_be_chosen_from_the_header_and_separated_by_tabs() {
        let mut csv = Csv::new(BufReader::new(&b"a b\tc\n1\t2,5\n"[..]), Separator::Tab, Vec::new());
        assert_eq!(csv.header().map(<[String]>::to_vec), Ok(vec!["a b".to_string(), "c".to_string()]));
        csv.choose(vec!["a b".to_string()]);
        assert_eq!(collect(csv), [Ok(vec![Raw::Int(1)])]);
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        assert_eq!(
            read("x,y\n1,2\n1,two\n")[1],
            Err("line 3: `y` must be a number or a truth value, not `two`".to_string())
        );
        assert_eq!(read("x,y\n1\n")[0], Err("line 2: the row has 1 cell, but the header has 2".to_string()));
        assert_eq!(
            read("x,y\n1,2\n1,2,3\n")[1],
            Err("line 3: the row has 3 cells, but the header has 2".to_string())
        );
        assert_eq!(read("x,t,x\n1,2,3\n")[0], Err("line 1: the header names `x` twice".to_string()));
        assert_eq!(
            read("x,y\n1,2\n1,\"2\n1,2\n")[1],
            Err("line 3: a quote is opened here or before, and never closed".to_string())
        );
        assert_eq!(
            read("x,y\n1,-1e400\n")[0],
            Err("line 2: `y` is the number -1e400, which is out of range".to_string())
        );
    }
}
