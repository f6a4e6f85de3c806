//! A program's text, from a file or from standard input.
//!
//! Each way in which reading fails becomes one diagnostic of the program's language at 1:1, so that a script
//! sees a missing file in the same form as a wrong one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use eddy_syntax::{Diagnostic, SourceFile, Sources, Span};

use crate::args::is_standard_input;
use crate::languages::Language;
use crate::stop::reason;

/// A file that could not be read: its name, with empty text, and the diagnostic with the reason.
pub struct Unreadable {
    pub sources: Sources,
    pub diagnostic: Diagnostic,
}

/// Reads a program; `-` is standard input. Imports are read as they are discovered.
pub fn read(path: &Path, language: &dyn Language) -> Result<Sources, Box<Unreadable>> {
    let name = if is_standard_input(path) { "<stdin>".to_owned() } else { path.display().to_string() };
    match bytes(path) {
        Ok(bytes) => {
            let main = SourceFile::from_bytes(name, bytes);
            Ok(Sources::new(main, Box::new(|path| imported(Path::new(path)))))
        }
        Err(reason) => {
            let title = format!("cannot read the file: {reason}");
            let diagnostic = Diagnostic::error(language.unreadable(), Span::default(), title);
            let sources = Sources::alone(SourceFile::new(name, ""));
            Err(Box::new(Unreadable { sources, diagnostic }))
        }
    }
}

/// The text of a file that is not a program, or the reason why it cannot be read.
pub fn text(path: &Path) -> Result<String, String> {
    String::from_utf8(bytes(path)?).map_err(|_| "it is not valid UTF-8".to_string())
}

/// Reads an import, which must be a regular file: a pipe would block, and could be read only once.
fn imported(path: &Path) -> Result<Vec<u8>, String> {
    let kind = fs::metadata(path).map_err(|error| reason(&error))?.file_type();
    if kind.is_dir() {
        return Err("it is a directory".to_string());
    }
    if !kind.is_file() {
        return Err("it is not a regular file".to_string());
    }
    bytes(path)
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = if is_standard_input(path) {
        at_most(SourceFile::MAX_BYTES, io::stdin().lock())
    } else {
        File::open(path).and_then(|file| {
            // The size of a regular file is known at once, that of a pipe or device only after reading.
            let is_larger = file.metadata()?.len() > SourceFile::MAX_BYTES as u64;
            if is_larger { Ok(None) } else { at_most(SourceFile::MAX_BYTES, file) }
        })
    };
    match bytes.map_err(|error| reason(&error))? {
        Some(bytes) if fits(&bytes) => Ok(bytes),
        _ => Err(format!("it is larger than {} MiB", SourceFile::MAX_BYTES >> 20)),
    }
}

/// Everything that `from` yields, or `None` if that is more than `limit` bytes.
fn at_most(limit: usize, from: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= limit).then_some(bytes))
}

/// Whether the decoded text keeps within the limit: a byte that is not UTF-8 becomes three.
fn fits(bytes: &[u8]) -> bool {
    bytes.len() <= SourceFile::MAX_BYTES / 3 || std::str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_the_largest_size_is_read_and_one_byte_more_is_not() {
        let read = |limit| at_most(limit, &b"12345"[..]).expect("reading memory works");
        assert_eq!(read(5).as_deref(), Some(&b"12345"[..]));
        assert_eq!(read(4), None);
    }
}
