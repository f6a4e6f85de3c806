//! The data files that a program reads.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use eddy_driver::Data;
use eddy_driver::data::{Content, Format};

use crate::args::is_standard_input;
use crate::report::Form;
use crate::stop::reason;

/// Opens data, as they are named on the command line; `None` if some cannot be opened, which is then told.
pub fn open_all(names: &[String], form: Form) -> Option<Vec<Data>> {
    let opened: Result<Vec<Data>, _> = names.iter().map(|named| open(named)).collect();
    opened.map_err(|(name, reason)| form.failure(&name, &format!("cannot read the file: {reason}"))).ok()
}

/// The file of data, as they are named on the command line.
pub fn path_of(named: &str) -> &Path {
    Path::new(input_and_path(named).1)
}

/// Whether data come from standard input.
pub fn is_read_from_standard_input(named: &String) -> bool {
    named == "-" || named.ends_with("=-")
}

/// The input that data are for, if they are for one, and their file.
fn input_and_path(named: &str) -> (Option<&str>, &str) {
    match named.split_once('=') {
        Some((input, path)) if !Path::new(named).exists() => (Some(input), path),
        _ => (None, named),
    }
}

/// Opens data; otherwise the file's name and why it cannot be opened.
fn open(named: &str) -> Result<Data, (String, String)> {
    let (input, path) = input_and_path(named);
    let input = input.map(str::to_string);
    let format = match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Format::Csv,
        Some("npy") => Format::Npy,
        _ => Format::JsonLines,
    };
    let (name, reader, is_at_hand): (String, Box<dyn Read + Send>, bool) =
        if is_standard_input(Path::new(path)) {
            ("<stdin>".to_string(), Box::new(io::stdin()), false)
        } else {
            let file = File::open(path).map_err(|error| (path.to_string(), reason(&error)))?;
            let is_regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
            (path.to_string(), Box::new(file), is_regular)
        };
    let reader = BufReader::with_capacity(1 << 16, reader);
    Ok(Data { name, input, content: Content::Bytes { format, reader, is_at_hand } })
}
