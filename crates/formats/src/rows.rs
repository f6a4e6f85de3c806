//! The interface of all readers, and errors in data.

use std::fmt;

use crate::raw::Raw;

/// The largest size of a row, which must fit in memory.
pub const MAX_ROW_BYTES: usize = 1 << 28;

/// The largest part of a row that a message shows.
const MAX_SHOWN_BYTES: usize = 1 << 10;

/// How the cells of a column are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers, truth values and lists of these.
    #[default]
    Values,
    /// The names of enumerators, as their numbers.
    Enumerators(Vec<String>),
    /// Texts, as they are.
    Texts,
}

/// The inputs at one cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// A cell for each input, in the reader's order.
    pub cells: Vec<Raw>,
    /// Its place, for messages.
    pub place: Place,
}

impl Row {
    /// A row without any input.
    pub fn absent(n_inputs: usize) -> Row {
        Row { cells: vec![Raw::Absent; n_inputs], place: Place { line: 0, text: String::new() } }
    }
}

/// The place of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1; 0 in a format without lines.
    pub line: u64,
    /// The text of the line.
    pub text: String,
}

/// The beginning of a message about a row.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => Ok(()),
            line => write!(f, "line {line}: "),
        }
    }
}

/// A source of rows.
pub trait Rows {
    /// The next row; `None` at the end.
    fn next_row(&mut self) -> Result<Option<Row>, BadData>;

    /// Whether reading the next row may block, because the buffer holds no whole row.
    fn is_waiting(&self) -> bool {
        true
    }

    /// Whether the first row determines all columns, as a header does.
    fn has_header(&self) -> bool {
        false
    }

    /// Names in the data that match no input; known after the first row.
    fn unused(&self) -> &[String];

    /// Whether the data mentioned an input, if only as absent.
    fn mentions(&self, input: usize) -> bool;
}

/// Data that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}{message}")]
pub struct BadData {
    /// The place.
    pub place: Place,
    /// The bytes of the line; empty for the whole line.
    pub bytes: std::ops::Range<usize>,
    /// The message.
    pub message: String,
}

impl BadData {
    /// Shortens a long row to the part that a message shows: its beginning, if the error is there. Otherwise
    /// the message gives the position.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        let text = &self.place.text;
        if text.len() <= MAX_SHOWN_BYTES {
            return self;
        }
        let end = text.floor_char_boundary(MAX_SHOWN_BYTES);
        if self.bytes.start >= end {
            self.message = format!("{} (at byte {} of the row)", self.message, self.bytes.start + 1);
            self.bytes = 0..0;
        }
        self.bytes.end = self.bytes.end.min(end);
        self.place.text = format!("{}…", &text[..end]);
        self
    }

    /// An error without a line.
    pub fn without_line(message: impl Into<String>) -> Self {
        let place = Place { line: 0, text: String::new() };
        BadData { place, bytes: 0..0, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_the_beginning_of_a_long_row() {
        let bad = |start: usize| {
            let place = Place { line: 7, text: "é".repeat(1 << 20) };
            BadData { place, bytes: start..start + 2, message: "it is wrong".to_string() }.shortened()
        };
        let near = bad(4);
        assert_eq!((near.place.text.len(), near.bytes, &*near.message), (1027, 4..6, "it is wrong"));
        let far = bad(1 << 20);
        assert_eq!((far.bytes, &*far.message), (0..0, "it is wrong (at byte 1048577 of the row)"));
        assert_eq!(bad(1022).bytes, 1022..1024);
    }
}
