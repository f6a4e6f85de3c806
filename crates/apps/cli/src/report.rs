//! Prints diagnostics, counters and failures on standard error, in the requested form.

use std::io::{self, Write};

use anstream::AutoStream;
use eddy_syntax::render::{self, Style};
use eddy_syntax::{Diagnostic, Sources};
use serde_json::Value;

use crate::args::Reporting;
use crate::json;
use crate::languages::Language;

/// The form of diagnostics.
#[derive(Clone, Copy)]
pub enum Form {
    /// With the source excerpt, for people.
    Full(Style),
    /// One line each, for editors.
    Short,
    /// One JSON object each, for programs.
    Json,
}

impl Form {
    /// The form that the options request.
    pub fn new(reporting: &Reporting) -> Self {
        if reporting.json {
            Form::Json
        } else if reporting.short {
            Form::Short
        } else {
            Form::Full(style(reporting.color))
        }
    }

    /// The answer as data, built only for JSON: it can be as large as the text.
    pub fn as_data(self, answer: impl FnOnce() -> Value) -> Value {
        if matches!(self, Form::Json) { answer() } else { Value::Null }
    }

    /// Prints a program's diagnostics.
    pub fn diagnostics(self, sources: &Sources, diagnostics: &[Diagnostic]) {
        let one = |diagnostic| match self {
            // An empty line separates long messages.
            Form::Full(style) => render::full(diagnostic, sources, style) + "\n\n",
            Form::Short => render::short(diagnostic, sources) + "\n",
            Form::Json => json::diagnostic(diagnostic, sources),
        };
        let mut text: String = diagnostics.iter().map(one).collect();
        if matches!(self, Form::Full(_)) {
            text.pop();
        }
        write_error(&text);
    }

    /// Prints the counters of `--stats`.
    pub fn stats(self, language: &dyn Language, stats: &[(&'static str, u64)]) {
        match self {
            Form::Json => write_error(&json::stats(stats)),
            _ => write_error(&language.show_stats(stats)),
        }
    }

    /// Prints a failure of the system rather than the program: for example, a file could not be written.
    pub fn failure(self, file: &str, message: &str) {
        match self {
            Form::Json => write_error(&json::failure(file, message)),
            _ => write_error(&format!("error: {file}: {message}\n")),
        }
    }
}

fn style(color: clap::ColorChoice) -> Style {
    let choice = match color {
        clap::ColorChoice::Always => anstream::ColorChoice::Always,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
        // Looks at the terminal, `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE`.
        clap::ColorChoice::Auto => AutoStream::choice(&io::stderr()),
    };
    match choice {
        anstream::ColorChoice::Never => Style::Plain,
        _ => Style::Coloured,
    }
}

/// Writes to standard error. If that is closed, the text is lost and the exit code remains.
fn write_error(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
