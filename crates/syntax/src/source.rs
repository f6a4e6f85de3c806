//! Source files, spans and positions.
//!
//! A [`Span`] is a range of bytes and means nothing without its file; a [`Position`] is what a person calls
//! the same place: line and column, both from 1, columns counted in characters.

use std::ops::Range;

/// A range of bytes in one source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` up to `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// The smallest span that holds both.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span just before this one.
    #[must_use]
    pub fn before(self) -> Span {
        Span { start: self.start, end: self.start }
    }

    /// The empty span just after this one.
    #[must_use]
    pub fn after(self) -> Span {
        Span { start: self.end, end: self.end }
    }

    /// The same range, for indexing text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A place as people say it: line and column, from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// The text of one program and the name it goes by in messages.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: String,
    line_starts: Vec<u32>,
    invalid_utf8: Option<Span>,
}

impl SourceFile {
    /// Larger files are refused when they are read: what is made of a program takes some hundred times its size.
    pub const MAX_BYTES: usize = 1 << 26;

    /// A file from text that is already decoded.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        assert!(text.len() <= Self::MAX_BYTES, "a source file is at most {} bytes", Self::MAX_BYTES);
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        // The assertion above keeps every offset within 32 bits.
        #[allow(clippy::cast_possible_truncation)]
        let line_starts = std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect();
        SourceFile { name: name.into(), text, line_starts, invalid_utf8: None }
    }

    /// A file from bytes. Bytes that are not UTF-8 become `U+FFFD`, and the first such place is remembered
    /// for the lexer, which reports it.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => SourceFile::new(name, text),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let mut text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                // One byte may have become three; the program is refused at its first bad byte anyway.
                text.truncate(text.floor_char_boundary(Self::MAX_BYTES));
                let mut file = SourceFile::new(name, text);
                let start = u32::try_from(at).expect("a source file is at most 64 MiB");
                let width = u32::try_from('\u{FFFD}'.len_utf8()).expect("three bytes");
                file.invalid_utf8 = Some(Span::new(start, start + width));
                file
            }
        }
    }

    /// The name under which messages speak of this file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        &self.text[span.range()]
    }

    /// Where the first bytes stood that were not UTF-8.
    pub fn invalid_utf8(&self) -> Option<Span> {
        self.invalid_utf8
    }

    /// The empty span at the end of the text.
    pub fn end(&self) -> Span {
        let end = u32::try_from(self.text.len()).expect("a source file is at most 64 MiB");
        Span::new(end, end)
    }

    /// Line and column of a byte offset.
    ///
    /// ```
    /// use eddy_syntax::SourceFile;
    /// let file = SourceFile::new("f.rd", "let π =\n  3");
    /// assert_eq!((file.position(7).line, file.position(7).column), (1, 7));
    /// assert_eq!((file.position(11).line, file.position(11).column), (2, 3));
    /// ```
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line_of(offset);
        let before = &self.text[self.line_starts[line] as usize..offset as usize];
        let number = |n: usize| u32::try_from(n + 1).expect("a source file is at most 64 MiB");
        Position { line: number(line), column: number(before.chars().count()) }
    }

    /// The whole lines that a span touches, without the last line break, and the number of the first.
    pub fn lines_around(&self, span: Span) -> (u32, Span) {
        let first = self.line_of(span.start);
        let last = self.line_of(span.end.max(span.start));
        let end = self.line_starts.get(last + 1).map_or(self.end().end, |next| next - 1);
        let number = u32::try_from(first + 1).expect("a source file is at most 64 MiB");
        (number, Span::new(self.line_starts[first], end))
    }

    fn line_of(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= offset) - 1
    }
}
