//! Records of CSV: finds their ends, their fields, and the lines where they start.
//!
//! Fields are separated by commas, or by tabs in TSV. A record ends at a line break outside of quotes: `\n`,
//! `\r\n` or `\r`. A field may be quoted if a quote is
//! its first character; inside of it, two quotes stand for one. Empty lines are no records. Most readers of
//! CSV agree, in particular the crate `csv`, with which the tests compare.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;

use crate::rows::{BadData, MAX_ROW_BYTES, Place};

/// What separates the fields of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Separator {
    /// CSV.
    #[default]
    Comma,
    /// TSV.
    Tab,
}

impl Separator {
    fn byte(self) -> u8 {
        match self {
            Separator::Comma => b',',
            Separator::Tab => b'\t',
        }
    }
}

/// Reads records.
pub struct Records<R> {
    from: BufReader<R>,
    separator: Separator,
    /// The number of lines of complete records.
    n_lines: u64,
    /// Whether the last line ended with `\r`; then a `\n` that follows belongs to the same line break.
    is_after_return: bool,
}

/// The state of a scan of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scan {
    FieldStart,
    InField,
    InQuotes,
    /// After a quote inside quotes: it closes them, or is the first of two.
    AfterQuote,
}

impl Scan {
    /// The state after a byte; `None` if the byte ends the record.
    fn next(self, byte: u8, separator: Separator) -> Option<Scan> {
        match (self, byte) {
            (Scan::FieldStart, b'"') => Some(Scan::InQuotes),
            (Scan::InQuotes, b'"') => Some(Scan::AfterQuote),
            (Scan::AfterQuote, b'"') | (Scan::InQuotes, _) => Some(Scan::InQuotes),
            (_, b'\n' | b'\r') => None,
            (_, byte) if byte == separator.byte() => Some(Scan::FieldStart),
            _ => Some(Scan::InField),
        }
    }

    /// The number of bytes before the end of the record, if it ends here; otherwise the state at the end.
    fn run(mut self, bytes: &[u8], separator: Separator) -> Result<usize, Scan> {
        for (position, byte) in bytes.iter().enumerate() {
            match self.next(*byte, separator) {
                Some(state) => self = state,
                None => return Ok(position),
            }
        }
        Err(self)
    }
}

impl<R: Read> Records<R> {
    /// Reads records from the start of a file.
    pub fn new(from: BufReader<R>, separator: Separator) -> Self {
        Records { from, separator, n_lines: 0, is_after_return: false }
    }

    pub fn separator(&self) -> Separator {
        self.separator
    }

    /// Whether a whole record is buffered, so that reading it does not block.
    pub fn has_record(&self) -> bool {
        let mut bytes = self.from.buffer();
        while let Some(break_or_text) = bytes.first() {
            if matches!(break_or_text, b'\n' | b'\r') {
                bytes = &bytes[1..];
            } else {
                return Scan::FieldStart.run(bytes, self.separator).is_ok();
            }
        }
        false
    }

    /// The next record, without its line break; `None` at the end.
    pub fn next_record(&mut self) -> Result<Option<Place>, BadData> {
        loop {
            let line = self.n_lines + 1;
            let Some(bytes) = self.next_bytes(line)? else { return Ok(None) };
            let text = String::from_utf8(bytes).map_err(|_| bad(line, "the row is not UTF-8"))?;
            if !text.is_empty() {
                return Ok(Some(Place { line, text }));
            }
        }
    }

    /// The bytes up to a line break outside of quotes; `None` at the end.
    fn next_bytes(&mut self, line: u64) -> Result<Option<Vec<u8>>, BadData> {
        let (mut record, mut scan) = (Vec::new(), Scan::FieldStart);
        loop {
            let bytes = match self.from.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(bad(line, &format!("the row cannot be read: {error}"))),
            };
            if bytes.is_empty() {
                return self.at_end(record, scan, line);
            }
            if std::mem::take(&mut self.is_after_return) && bytes[0] == b'\n' {
                self.from.consume(1);
                continue;
            }
            let end = scan.run(bytes, self.separator);
            let n_taken = end.map_or(bytes.len(), |end| end);
            record.extend_from_slice(&bytes[..n_taken]);
            let stop = bytes.get(n_taken).copied();
            self.from.consume(n_taken + usize::from(stop.is_some()));
            if record.len() > MAX_ROW_BYTES {
                return Err(bad(line, &format!("the row is longer than {} MiB", MAX_ROW_BYTES >> 20)));
            }
            match end {
                Ok(_) => {
                    self.is_after_return = stop == Some(b'\r');
                    self.n_lines += 1 + breaks(&record);
                    return Ok(Some(record));
                }
                Err(state) => scan = state,
            }
        }
    }

    fn at_end(&mut self, record: Vec<u8>, scan: Scan, line: u64) -> Result<Option<Vec<u8>>, BadData> {
        if scan == Scan::InQuotes {
            let text = String::from_utf8_lossy(&record);
            let text = text.lines().next().unwrap_or_default().to_string();
            let message = "a quote is opened here or before, and never closed".to_string();
            return Err(BadData { place: Place { line, text }, bytes: 0..0, message });
        }
        self.n_lines += 1;
        Ok((!record.is_empty()).then_some(record))
    }
}

/// The number of line breaks inside a record, all of which are quoted.
fn breaks(record: &[u8]) -> u64 {
    let pairs = record.windows(2).filter(|pair| pair == b"\r\n").count();
    let single = record.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    (single - pairs) as u64
}

fn bad(line: u64, message: &str) -> BadData {
    BadData { place: Place { line, text: String::new() }, bytes: 0..0, message: message.to_string() }
}

/// A field of a record, without surrounding blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its text, without quotes.
    pub text: Cow<'a, str>,
    /// Its bytes in the record.
    pub bytes: Range<usize>,
}

/// The fields of a record.
pub fn fields(record: &str, separator: Separator) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    let (mut start, mut scan) = (0, Scan::FieldStart);
    for (position, byte) in record.bytes().chain([separator.byte()]).enumerate() {
        let state = scan.next(byte, separator).unwrap_or(Scan::FieldStart);
        let is_end = byte == separator.byte() && scan != Scan::InQuotes || position == record.len();
        if is_end {
            fields.push(field(&record[start..position], start));
            (start, scan) = (position + 1, Scan::FieldStart);
        } else {
            scan = state;
        }
    }
    fields
}

fn field(raw: &str, start: usize) -> Field<'_> {
    let bytes = start..start + raw.len();
    let Some(quoted) = raw.strip_prefix('"') else {
        return Field { text: Cow::Borrowed(raw.trim()), bytes };
    };
    let (mut text, mut is_open, mut characters) = (String::new(), true, quoted.chars().peekable());
    while let Some(character) = characters.next() {
        match character {
            '"' if is_open && characters.peek() == Some(&'"') => {
                characters.next();
                text.push('"');
            }
            '"' if is_open => is_open = false,
            other => text.push(other),
        }
    }
    Field { text: Cow::Owned(text.trim().to_string()), bytes }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str, capacity: usize, separator: Separator) -> Option<Vec<(u64, Vec<String>)>> {
        let mut records = Records::new(BufReader::with_capacity(capacity, text.as_bytes()), separator);
        let mut found = Vec::new();
        loop {
            match records.next_record() {
                Ok(Some(place)) => {
                    let texts =
                        fields(&place.text, separator).into_iter().map(|field| field.text.into_owned());
                    found.push((place.line, texts.collect()));
                }
                Ok(None) => return Some(found),
                Err(_) => return None,
            }
        }
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        for (name, line_break) in [("LF", "\n"), ("CRLF", "\r\n"), ("CR", "\r")] {
            let text = ["x", "1", "", "", "2", "\"3", "\"", "4"].join(line_break);
            let lines: Vec<u64> = read(&text, 7, Separator::Comma)
                .expect("it can be read")
                .iter()
                .map(|(line, _)| *line)
                .collect();
            assert_eq!(lines, [1, 2, 5, 6, 8], "{name}");
        }
    }

    proptest! {
        #[test]
        fn records_are_those_of_another_reader(
            text in "[1,\"\n\r .\t]{0,24}",
            capacity in 1_usize..9,
            separator in prop_oneof![Just(Separator::Comma), Just(Separator::Tab)],
        ) {
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .delimiter(separator.byte())
                .trim(csv::Trim::All)
                .flexible(true)
                .from_reader(text.as_bytes());
            let expected: Vec<Vec<String>> =
                reader.records().flatten().map(|record| record.iter().map(str::to_string).collect()).collect();
            // The other reader closes quotes at the end of the file, which is an error here.
            if let Some(found) = read(&text, capacity, separator) {
                let found: Vec<Vec<String>> = found.into_iter().map(|(_, fields)| fields).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
