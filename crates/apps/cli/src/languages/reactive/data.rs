//! The data files that a program reads.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use eddy_driver::Data;
use eddy_driver::data::{Content, Format};

use crate::args::is_standard_input;
use crate::report::Form;
use crate::stop::reason;

/// Opens the data named on the command line; returns `None` and reports the reason if a file cannot be
/// opened.
pub fn open_all(names: &[String], form: Form) -> Option<Vec<Data>> {
    let opened: Result<Vec<Data>, _> = names.iter().map(|named| open(named)).collect();
    opened.map_err(|(name, reason)| form.failure(&name, &format!("cannot read the file: {reason}"))).ok()
}

/// The path of data as named on the command line.
pub fn path_of(named: &str) -> &Path {
    Path::new(input_and_path(named).1)
}

/// Whether data come from standard input.
pub fn is_read_from_standard_input(named: &String) -> bool {
    named == "-" || named.ends_with("=-")
}

/// The input before `=`, if there is one, and the path.
fn input_and_path(named: &str) -> (Option<&str>, &str) {
    match named.split_once('=') {
        Some((input, path)) if !Path::new(named).exists() => (Some(input), path),
        _ => (None, named),
    }
}

/// Opens data; otherwise returns the file's name and the reason.
fn open(named: &str) -> Result<Data, (String, String)> {
    let (input, path) = input_and_path(named);
    let input = input.map(str::to_string);
    let format = match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Format::Csv,
        Some("npy") => Format::Npy,
        _ => Format::JsonLines,
    };
    let (name, reader, never_blocks): (String, Box<dyn Read + Send>, bool) =
        if is_standard_input(Path::new(path)) {
            ("<stdin>".to_string(), Box::new(io::stdin()), false)
        } else {
            let file = File::open(path).map_err(|error| (path.to_string(), reason(&error)))?;
            let is_regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
            (path.to_string(), Box::new(file), is_regular)
        };
    let reader = BufReader::with_capacity(1 << 16, reader);
    Ok(Data { name, input, content: Content::Bytes { format, reader, never_blocks } })
}
