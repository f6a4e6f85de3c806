//! The command `fmt`: rewrites programs in the one format, without ever losing one.
//!
//! A file is replaced in one step ([`replace`]). A program that does not parse is reported and left alone,
//! and the other files are still formatted.

use std::io;
use std::path::Path;

use eddy_syntax::SourceFile;
use serde_json::Value;

use crate::answers::Answers;
use crate::args::is_standard_input;
use crate::commands::FmtArgs;
use crate::input;
use crate::json;
use crate::languages::Language;
use crate::replacement::replace;
use crate::report::Form;
use crate::status::Status;
use crate::stop::{Stop, reason};

/// `eddy fmt`.
pub fn fmt(args: &FmtArgs) -> Result<Status, Stop> {
    // Checks the whole command line first: an error in its last file must leave its first file unchanged.
    let languages: Vec<_> =
        args.files.iter().map(|file| args.lang.of(file, "fmt")).collect::<Result<_, _>>()?;
    let form = Form::new(&args.reporting);
    let mut tally = Tally::default();
    for (path, language) in args.files.iter().zip(languages) {
        format_one(path, language, args.check, form, &mut tally);
    }
    let mut answers = Answers::to_stdout();
    match form {
        Form::Json if tally.refused => {}
        Form::Json => answers.write(&json::result("fmt", tally.word(), &tally.output, &Value::Null))?,
        _ => answers.write(&tally.output)?,
    }
    answers.finish(Status::Answered)?;
    Ok(if tally.refused || tally.unformatted { Status::Refused } else { Status::Answered })
}

/// The result for all files together.
#[derive(Default)]
struct Tally {
    /// The text for standard output: the formatted standard input, or the files that would change.
    output: String,
    /// A file could not be read, formatted or written.
    refused: bool,
    /// With `--check`: a file would change.
    unformatted: bool,
}

impl Tally {
    fn word(&self) -> &'static str {
        if self.unformatted { "unformatted" } else { Status::Answered.word() }
    }
}

fn format_one(path: &Path, language: &dyn Language, check: bool, form: Form, tally: &mut Tally) {
    let sources = match input::read(path, language) {
        Ok(sources) => sources,
        Err(unreadable) => {
            form.diagnostics(&unreadable.sources, &[unreadable.diagnostic]);
            tally.refused = true;
            return;
        }
    };
    let file = sources.main();
    let formatted = match language.format(file) {
        Ok(formatted) => formatted,
        Err(diagnostics) => {
            form.diagnostics(&sources, &diagnostics);
            tally.refused = true;
            return;
        }
    };
    let changes = formatted != file.text();
    if check {
        if changes {
            tally.unformatted = true;
            tally.output.extend([file.name(), "\n"]);
        }
    } else if is_standard_input(path) {
        tally.output += &formatted;
    } else if changes && let Err(error) = rewrite(path, file, &formatted) {
        form.failure(file.name(), &format!("cannot write the file: {}", reason(&error)));
        tally.refused = true;
    }
}

fn rewrite(path: &Path, file: &SourceFile, formatted: &str) -> io::Result<()> {
    assert!(
        file.invalid_utf8().is_none(),
        "a language refuses bytes that are not UTF-8, which writing would lose"
    );
    replace(path, formatted.as_bytes())
}
