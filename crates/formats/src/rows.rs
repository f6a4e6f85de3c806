//! What all readers have in common, and what is wrong with data.

use std::fmt;

use crate::raw::Raw;

/// A longer row is refused: it would have to fit in memory.
pub const MAX_ROW_BYTES: usize = 1 << 28;

/// So much of a row is shown in a message at most.
const MAX_SHOWN_BYTES: usize = 1 << 10;

/// The names of the enumerators of an input, if it has some.
pub type Cases = Option<Vec<String>>;

/// The inputs at one cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// A cell for each input, in the order in which the reader was told them.
    pub cells: Vec<Raw>,
    /// Where it comes from, for messages.
    pub place: Place,
}

impl Row {
    /// A row in which nothing is there.
    pub fn absent(n_inputs: usize) -> Row {
        Row { cells: vec![Raw::Absent; n_inputs], place: Place { line: 0, text: String::new() } }
    }
}

/// Where a row comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1; 0 in a format without lines.
    pub line: u64,
    /// The text of the line.
    pub text: String,
}

/// What a message about a row begins with.
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
    /// The next row; none at the end.
    fn next_row(&mut self) -> Result<Option<Row>, BadData>;

    /// Whether the next row may be long in coming: what was read so far is used up.
    fn is_waiting(&self) -> bool {
        true
    }

    /// Names in the data that are no inputs; known after the first row.
    fn unused(&self) -> &[String];

    /// Whether the data had something to say about an input, if only that it is absent.
    fn mentions(&self, input: usize) -> bool;
}

/// Data that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}{message}")]
pub struct BadData {
    /// Where.
    pub place: Place,
    /// Which bytes of the line; empty if all of it.
    pub bytes: std::ops::Range<usize>,
    /// What is wrong.
    pub message: String,
}

impl BadData {
    /// With no more of a long row than a message shows: its beginning, if the mistake is there. Otherwise the
    /// message says where it is.
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

    /// Something that has no line.
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
