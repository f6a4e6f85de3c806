//! The data files that a program reads, and how their columns become inputs.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use eddy_driver::data::{Content, Format};
use eddy_driver::{Data, Encoding, Model};
use eddy_formats::{Categories, Mapping};

use crate::args::is_standard_input;
use crate::report::Form;
use crate::stop::reason;

/// The options that say how data become inputs.
#[derive(Args, Clone, Debug, Default)]
pub struct DataArgs {
    /// Read an input from columns of other names: `x=temp`, a vector `x=a,b,c`, a matrix `x=a,b;c,d`, all
    /// columns from one to another `x=p0..p63`, or all that are left `x=*`
    #[arg(long = "columns", value_name = "INPUT=COLUMNS", value_parser = Mapping::parse)]
    pub columns: Vec<Mapping>,
    /// Read the texts of a column as numbers, in the order in which they first come
    #[arg(long = "category", value_name = "COLUMN", value_delimiter = ',')]
    pub categories: Vec<String>,
    /// A text that stands for a missing value; empty cells, and `NA` where a number is expected, always do
    #[arg(long = "missing", value_name = "TEXT")]
    pub missing: Vec<String>,
    /// The format of standard input, and of files whose extension says nothing
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub in_format: Option<Format>,
}

impl DataArgs {
    /// The encoding that the options describe, on top of a known one. Categories that are not known are
    /// learnt.
    pub fn encoding(&self, known: Encoding) -> Encoding {
        let own = Encoding {
            columns: self.columns.clone(),
            categories: self.categories.iter().map(Categories::open).collect(),
            missing: self.missing.clone(),
            ..Encoding::default()
        };
        known.overridden_by(&own)
    }
}

impl DataArgs {
    /// An input of `--columns` that the node does not have.
    pub fn unknown_input(&self, model: &Model) -> Option<&str> {
        let is_known = |name: &str| model.input_names().any(|input| input == name);
        self.columns.iter().map(|mapping| mapping.input.as_str()).find(|name| !is_known(name))
    }
}

fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
        .map(|name| Format::named(&name).expect("only names of formats are possible"))
}

/// Opens the data named on the command line; returns `None` and reports the reason if a file cannot be
/// opened.
pub fn open_all(names: &[String], format: Option<Format>, form: Form) -> Option<Vec<Data>> {
    let opened: Result<Vec<Data>, _> = names.iter().map(|named| open(named, format)).collect();
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
fn open(named: &str, format: Option<Format>) -> Result<Data, (String, String)> {
    let (input, path) = input_and_path(named);
    let input = input.map(str::to_string);
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
    let format = extension.and_then(Format::named).or(format).unwrap_or(Format::JsonLines);
    let failed = |error: &io::Error| (path.to_string(), reason(error));
    if is_standard_input(Path::new(path)) {
        let reader: Box<dyn Read + Send> = Box::new(io::stdin());
        return Ok(Data { input, ..bytes("<stdin>", format, reader) });
    }
    let file = File::open(path).map_err(|error| failed(&error))?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Ok(Data { input, ..bytes(path, format, Box::new(file)) });
    }
    let again = path.to_string();
    let open = move || Ok(Box::new(File::open(&again)?) as Box<dyn Read + Send>);
    Ok(Data { input, ..Data::file(path, format, Arc::new(open)) })
}

fn bytes(name: &str, format: Format, reader: Box<dyn Read + Send>) -> Data {
    let reader = BufReader::with_capacity(1 << 16, reader);
    Data {
        name: name.to_string(),
        input: None,
        content: Content::Bytes { format, reader, never_blocks: false },
    }
}
