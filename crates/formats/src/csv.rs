//! CSV: a header of names, a row per cycle, an empty cell for absence; scalars only.
//!
//! Decision: an empty line is no row, as in JSON lines and in most readers of CSV. In a file with a single
//! column, an absent cell is written as `""`.

use std::io::{BufReader, Read};

use crate::raw::Raw;
use crate::records::{Field, Records, fields};
use crate::rows::{BadData, Cases, Row, Rows};

/// Reads CSV.
pub struct Csv<R> {
    records: Records<R>,
    names: Vec<String>,
    /// The column of each input, once the header is read.
    columns: Option<Vec<Option<usize>>>,
    n_columns: usize,
    unused: Vec<String>,
    cases: Vec<Cases>,
}

impl<R: Read> Csv<R> {
    /// Reads cells for these inputs.
    pub fn new(from: BufReader<R>, names: Vec<String>) -> Self {
        let cases = vec![None; names.len()];
        Csv { records: Records::new(from), names, columns: None, n_columns: 0, unused: Vec::new(), cases }
    }

    /// Reads the names of enumerators as their numbers, for the inputs that have enumerators.
    #[must_use]
    pub fn with_cases(mut self, cases: Vec<Cases>) -> Self {
        self.cases = cases;
        self
    }

    fn read_header(&mut self) -> Result<(), BadData> {
        if self.columns.is_some() {
            return Ok(());
        }
        let Some(place) = self.records.next_record()? else {
            self.columns = Some(vec![None; self.names.len()]);
            return Ok(());
        };
        // A byte order mark is not part of a name.
        let text = place.text.trim_start_matches('\u{FEFF}');
        let names: Vec<String> = fields(text).into_iter().map(|field| field.text.into_owned()).collect();
        if let Some(name) =
            self.names.iter().find(|name| names.iter().filter(|other| other == name).count() > 1)
        {
            let message = format!("the header names `{name}` twice");
            return Err(BadData { place, bytes: 0..0, message });
        }
        self.n_columns = names.len();
        self.columns =
            Some(self.names.iter().map(|name| names.iter().position(|other| other == name)).collect());
        self.unused = names.into_iter().filter(|name| !self.names.contains(name)).collect();
        Ok(())
    }
}

impl<R: Read> Rows for Csv<R> {
    fn is_waiting(&self) -> bool {
        !self.records.has_record()
    }

    fn next_row(&mut self) -> Result<Option<Row>, BadData> {
        self.read_header()?;
        let Some(place) = self.records.next_record()? else { return Ok(None) };
        let record = fields(&place.text);
        if record.len() != self.n_columns {
            let cells = if record.len() == 1 { "cell" } else { "cells" };
            let message =
                format!("the row has {} {cells}, but the header has {}", record.len(), self.n_columns);
            let bytes = 0..place.text.len();
            return Err(BadData { place, bytes, message });
        }
        let columns = self.columns.as_ref().expect("the header was read");
        let mut cells = Vec::with_capacity(columns.len());
        for ((name, column), cases) in self.names.iter().zip(columns).zip(&self.cases) {
            let Some(Field { text, bytes }) = column.map(|column| &record[column]) else {
                cells.push(Raw::Absent);
                continue;
            };
            let cell = match cases {
                Some(cases) => enumerator(text, cases),
                None => cell(text),
            };
            cells.push(cell.ok_or_else(|| {
                let is_number = text.parse::<f64>().is_ok();
                let message = if let Some(cases) = cases {
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

fn cell(text: &str) -> Option<Raw> {
    Some(match text {
        "" => Raw::Absent,
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
        let mut rows = Csv::new(BufReader::new(text.as_bytes()), vec!["x".to_string(), "y".to_string()]);
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
