//! Source files, spans and positions.
//!
//! A [`Span`] is a range of bytes; a [`Position`] is the line and column of the same place, both from 1,
//! columns counted in characters.
//!
//! A program may consist of several files ([`Sources`]). They share one space of offsets, one after the
//! other, so that a span alone identifies its file, and code for one file works for many.

use std::fmt;
use std::sync::Arc;

/// A range of bytes in one file of a program.
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

    /// The smallest span that contains both.
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
}

/// A place as line and column, from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// The text of one program and its name in messages.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: String,
    /// The offset of its first byte among all files of the program.
    base: u32,
    /// The number of its first line.
    first_line: u32,
    /// Where each line starts, counted from the start of this file.
    line_starts: Vec<u32>,
    invalid_utf8: Option<Span>,
}

impl SourceFile {
    /// The largest size of a file: the data structures of a program take some hundred times its size.
    pub const MAX_BYTES: usize = 1 << 26;

    /// A file from text that is already decoded.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        assert!(text.len() <= Self::MAX_BYTES, "a source file is at most {} bytes", Self::MAX_BYTES);
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        // The assertion above keeps every offset within 32 bits.
        #[allow(clippy::cast_possible_truncation)]
        let line_starts = std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect();
        SourceFile { name: name.into(), text, base: 0, first_line: 1, line_starts, invalid_utf8: None }
    }

    /// A file from bytes. Bytes that are not UTF-8 become `U+FFFD`, and the lexer reports the first such
    /// place.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => SourceFile::new(name, text),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let mut text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                // Replacement may triple a byte; the program is refused at its first bad byte anyway.
                text.truncate(text.floor_char_boundary(Self::MAX_BYTES));
                let mut file = SourceFile::new(name, text);
                let start = u32::try_from(at).expect("a source file is at most 64 MiB");
                let width = u32::try_from('\u{FFFD}'.len_utf8()).expect("three bytes");
                file.invalid_utf8 = Some(Span::new(start, start + width));
                file
            }
        }
    }

    /// The name of this file in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The offset of its first byte; 0 for the main file of a program.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        &self.text[(span.start - self.base) as usize..(span.end - self.base) as usize]
    }

    /// Bytes of this file, counted from its start, extended to whole characters: another reader's offsets may
    /// be inside one.
    pub fn span_around(&self, bytes: std::ops::Range<usize>) -> Span {
        let start = self.text.floor_char_boundary(bytes.start);
        let end = self.text.ceil_char_boundary(bytes.end.max(start));
        let offset = |at: usize| self.base + u32::try_from(at).expect("a source file is at most 64 MiB");
        Span::new(offset(start), offset(end))
    }

    /// The first bytes that were not UTF-8.
    pub fn invalid_utf8(&self) -> Option<Span> {
        self.invalid_utf8.map(|span| Span::new(span.start + self.base, span.end + self.base))
    }

    /// The empty span at the end of the text.
    pub fn end(&self) -> Span {
        let end = self.base + u32::try_from(self.text.len()).expect("a source file is at most 64 MiB");
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
        let offset = offset - self.base;
        let line = self.line_of(offset);
        let end = self.text.floor_char_boundary(offset as usize);
        let before = &self.text[self.line_starts[line] as usize..end];
        let number = |n: usize| u32::try_from(n).expect("a source file is at most 64 MiB");
        Position { line: self.first_line + number(line), column: 1 + number(before.chars().count()) }
    }

    /// The whole lines that a span touches, without the last line break, and the number of the first.
    pub fn lines_around(&self, span: Span) -> (u32, Span) {
        let first = self.line_of(span.start - self.base);
        let last = self.line_of(span.end.max(span.start) - self.base);
        let end = self.line_starts.get(last + 1).map_or(self.end().end, |next| next - 1 + self.base);
        let number = self.first_line + u32::try_from(first).expect("a source file is at most 64 MiB");
        (number, Span::new(self.line_starts[first] + self.base, end))
    }

    /// The line of an offset from the start of this file.
    fn line_of(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= offset) - 1
    }
}
/// A path without `.` and, where possible, `..`: so that a file has one name for all paths to it.
fn without_detours(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            (".", _) => {}
            ("..", Some(last)) if !last.is_empty() && *last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    if parts.is_empty() { ".".to_string() } else { parts.join("/") }
}

/// Reads the files of a program: from a path to its bytes, or the reason for a failure.
pub type Reader = dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync;

/// The files of one program: the main file, and those that it imports.
#[derive(Clone)]
pub struct Sources {
    files: Vec<SourceFile>,
    read: Arc<Reader>,
}

impl Sources {
    /// A program of one file, which can import nothing.
    pub fn alone(main: SourceFile) -> Self {
        Sources::new(main, Box::new(|_| Err("no other files can be read here".to_string())))
    }

    /// A program with this main file; `read` reads the others.
    pub fn new(main: SourceFile, read: Box<Reader>) -> Self {
        Sources { files: vec![main], read: Arc::from(read) }
    }

    /// The file that was named.
    pub fn main(&self) -> &SourceFile {
        &self.files[0]
    }

    /// All files, in the order in which they were read.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The other files, including those that come with the language.
    pub fn imported(&self) -> impl Iterator<Item = &SourceFile> {
        self.files[1..].iter()
    }

    /// The file of a span.
    pub fn file(&self, span: Span) -> &SourceFile {
        &self.files[self.index(span)]
    }

    /// Adds a text that is not a file, such as a library that comes with the language.
    pub fn add(&mut self, name: &str, text: &str) -> Result<&SourceFile, String> {
        self.place(SourceFile::new(name, text))
    }

    /// Adds a few lines of a file that is not kept, such as the line of a data file in a message.
    pub fn add_excerpt(&mut self, name: &str, text: &str, first_line: u32) -> Result<&SourceFile, String> {
        self.place(SourceFile { first_line, ..SourceFile::new(name, text) })
    }

    /// Adds the file at `path`, relative to the file that contains `importer`. A file that was added before
    /// is not read again.
    pub fn import(&mut self, path: &str, importer: Span) -> Result<&SourceFile, String> {
        let name = match self.file(importer).name().rsplit_once('/') {
            Some((folder, _)) if !path.starts_with('/') => without_detours(&format!("{folder}/{path}")),
            _ => without_detours(path),
        };
        if let Some(index) = self.files.iter().position(|file| file.name() == name) {
            return Ok(&self.files[index]);
        }
        let bytes = (self.read)(&name)?;
        self.place(SourceFile::from_bytes(name, bytes))
    }

    fn place(&mut self, mut file: SourceFile) -> Result<&SourceFile, String> {
        // One unused offset between two files, so that the end of one is not the start of the next.
        let base = self.files.last().map_or(0, |last| last.end().end + 1);
        if u32::try_from(file.text.len()).ok().and_then(|length| base.checked_add(length + 1)).is_none() {
            return Err("the files of this program are larger than 4 GiB together".to_string());
        }
        file.base = base;
        self.files.push(file);
        Ok(&self.files[self.files.len() - 1])
    }

    fn index(&self, span: Span) -> usize {
        self.files.partition_point(|file| file.base <= span.start) - 1
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.files.iter().map(SourceFile::name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_of_whole_characters() {
        let file = SourceFile::new("data", "aé\u{FEFF}");
        assert_eq!(file.span_around(2..2), Span::new(1, 3));
        assert_eq!(file.span_around(4..4), Span::new(3, 6));
        assert_eq!(file.span_around(0..1), Span::new(0, 1));
        assert_eq!(file.span_around(9..10), Span::new(6, 6));
        assert_eq!(file.position(2), Position { line: 1, column: 2 });
    }

    #[test]
    fn a_span_identifies_its_file() {
        let read = |path: &str| match path {
            "models/layers/dense.eddy" => Ok(b"one\ntwo".to_vec()),
            _ => Err(format!("there is no {path}")),
        };
        let main = SourceFile::new("models/main.eddy", "main");
        let mut sources = Sources::new(main, Box::new(read));
        let end = sources.main().end();
        let base = sources.import("layers/dense.eddy", end).expect("it can be read").base();
        let two = Span::new(base + 4, base + 7);
        assert_eq!(sources.file(end).name(), "models/main.eddy");
        assert_eq!(sources.file(two).slice(two), "two");
        assert_eq!(sources.file(two).position(two.start), Position { line: 2, column: 1 });
        assert_eq!(sources.file(two).lines_around(two), (2, two));
        assert_eq!(sources.import("layers/dense.eddy", end).map(SourceFile::base), Ok(base), "read once");
        let again = sources.import("../layers/dense.eddy", two).map(SourceFile::base);
        assert_eq!(again, Ok(base), "reached by another way");
        let missing = sources.import("conv.eddy", two).map(SourceFile::base);
        assert_eq!(missing, Err("there is no models/layers/conv.eddy".to_string()));
    }
}
