//! A question about a program: reads the program, calls the language, and prints the answer.
//!
//! The answer of a trace comes line by line; the answers to all other questions are values, which are
//! rendered as a whole, as text or as one JSON object. A refused program leaves standard output empty.

use std::fmt::{self, Display, Write};
use std::path::{Path, PathBuf};
use std::{fs, io};

use eddy_syntax::{Diagnostic, Sources};
use serde_json::Value;

use crate::answers::Answers;
use crate::args::Reporting;
use crate::command_line::misuse;
use crate::commands::Command;
use crate::input::{self, Unreadable};
use crate::json;
use crate::languages::Language;
use crate::report::Form;
use crate::status::Status;
use crate::stop::{Stop, reason};

/// A command, its program, and the form of its messages.
pub struct Session {
    pub command: Command,
    pub file: PathBuf,
    pub language: &'static dyn Language,
    pub form: Form,
    /// The file that the answer goes to, instead of standard output.
    pub out: Option<PathBuf>,
    stats: bool,
}

/// How a question ended, and everything except the text of the answer.
pub struct Ended {
    pub status: Status,
    /// The answer for scripts; `null` if it exists only as text.
    pub answer: Value,
    /// Errors and warnings, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// Counters for `--stats`: name and value.
    pub stats: Vec<(&'static str, u64)>,
}

impl Ended {
    /// The question has an answer.
    pub fn answered(answer: Value) -> Self {
        Ended { status: Status::Answered, answer, diagnostics: Vec::new(), stats: Vec::new() }
    }

    /// The program is wrong.
    pub fn refused(diagnostics: Vec<Diagnostic>) -> Self {
        debug_assert!(!diagnostics.is_empty(), "a refusal says why");
        Ended { status: Status::Refused, answer: Value::Null, diagnostics, stats: Vec::new() }
    }

    /// The program was refused, and there is an answer for scripts.
    pub fn refused_with(answer: Value) -> Self {
        Ended { status: Status::Refused, ..Ended::answered(answer) }
    }

    /// The program was run and has no value.
    pub fn no_value(answer: Value, diagnostic: Option<Diagnostic>) -> Self {
        let diagnostics = diagnostic.into_iter().collect();
        Ended { status: Status::NoValue, answer, diagnostics, stats: Vec::new() }
    }

    /// Adds counters.
    pub fn counting(self, stats: Vec<(&'static str, u64)>) -> Self {
        Ended { stats, ..self }
    }
}

impl Session {
    pub fn new(
        command: Command,
        file: PathBuf,
        language: &'static dyn Language,
        reporting: &Reporting,
        out: Option<PathBuf>,
        stats: bool,
    ) -> Self {
        Session { command, file, language, form: Form::new(reporting), out, stats }
    }

    /// Answers a question and prints the whole answer; `describe` says how it ended.
    pub fn reply<T: Display>(
        &self,
        ask: impl FnOnce(&mut Sources) -> Result<T, Vec<Diagnostic>>,
        describe: impl FnOnce(&T) -> Ended,
    ) -> Result<Status, Stop> {
        self.check_output(self.out.as_deref(), &[])?;
        self.conclude(self.out.as_deref(), |sources, answers| match ask(sources) {
            Err(diagnostics) => Ok(Ended::refused(diagnostics)),
            Ok(answer) => {
                let mut text = answer.to_string();
                if !text.is_empty() {
                    text.push('\n');
                }
                let ended = describe(&answer);
                self.write_whole(&text, &ended, answers)?;
                Ok(ended)
            }
        })
    }

    /// Answers a question and prints each line as soon as it is known. A refused program must print nothing.
    pub fn stream(
        &self,
        write: impl FnOnce(&mut Sources, &mut dyn Write) -> Result<Ended, fmt::Error>,
    ) -> Result<Status, Stop> {
        self.check_output(self.out.as_deref(), &[])?;
        self.conclude(self.out.as_deref(), |sources, answers| match self.form {
            Form::Json => {
                let mut lines = json::Lines::new(self.command.name(), answers);
                let ended = write(sources, &mut lines)?;
                lines.finish(ended.status, &ended.answer)?;
                Ok(ended)
            }
            Form::Full(_) | Form::Short => write(sources, answers),
        })
    }

    /// Writes an answer that is complete; a refused program has none.
    pub fn write_whole(&self, text: &str, ended: &Ended, answers: &mut Answers) -> fmt::Result {
        match (ended.status, self.form) {
            (Status::Refused, _) => Ok(()),
            (status, Form::Json) => {
                answers.write_str(&json::result(self.command.name(), status.word(), text, &ended.answer))
            }
            (_, Form::Full(_) | Form::Short) => answers.write_str(text),
        }
    }

    /// The program; `None` if it cannot be read, which is reported.
    pub fn sources(&self) -> Option<Sources> {
        match input::read(&self.file, self.language) {
            Ok(sources) => Some(sources),
            Err(unreadable) => {
                let Unreadable { sources, diagnostic } = *unreadable;
                self.form.diagnostics(&sources, &[diagnostic]);
                None
            }
        }
    }

    /// Reads the program, calls the language, and prints its diagnostics. The answer goes to the file `to`,
    /// or to standard output.
    pub fn conclude(
        &self,
        to: Option<&Path>,
        answer: impl FnOnce(&mut Sources, &mut Answers) -> Result<Ended, fmt::Error>,
    ) -> Result<Status, Stop> {
        let Some(mut sources) = self.sources() else { return Ok(Status::Refused) };
        let mut answers = match to.map_or_else(|| Ok(Answers::to_stdout()), Answers::to_file) {
            Ok(answers) => answers,
            Err(error) => return Ok(self.cannot_write(to, &error)),
        };
        let answered = answer(&mut sources, &mut answers);
        let status = answered.as_ref().map_or(Status::Refused, |ended| ended.status);
        // The answer comes first: on a terminal, the text on standard error then appears below it.
        match (answers.finish(status), to) {
            (Err(error), Some(_)) => return Ok(self.cannot_write(to, &error)),
            (finished, _) => finished?,
        }
        let ended = answered.expect("a language fails to write only when its answer does");
        self.form.diagnostics(&sources, &ended.diagnostics);
        if self.stats {
            self.form.stats(self.language, &ended.stats);
        }
        Ok(ended.status)
    }

    fn cannot_write(&self, to: Option<&Path>, error: &io::Error) -> Status {
        let name = to.map_or_else(String::new, |path| path.display().to_string());
        self.form.failure(&name, &format!("cannot write the file: {}", reason(error)));
        Status::Refused
    }

    /// Refuses an output file that is the program itself or one of its inputs.
    pub fn check_output(&self, to: Option<&Path>, read: &[&Path]) -> Result<(), Stop> {
        let Some(to) = to.filter(|to| to.exists()) else { return Ok(()) };
        let what = if same_file(&self.file, to) {
            "the program itself"
        } else if read.iter().any(|path| same_file(path, to)) {
            "a file that the program reads"
        } else {
            return Ok(());
        };
        let message = format!("the answer cannot be written to `{}`: it is {what}", to.display());
        Err(misuse(self.command.name(), &message))
    }
}

/// Whether two paths lead to the same file.
pub fn same_file(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}
