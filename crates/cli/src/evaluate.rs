//! The commands `check`, `run` and `trace`: find the language, read the program, pass on its answer.
//!
//! A language promises to write nothing about a program that `run` or `trace` refuses, so their answers
//! stream. A check may have more to say before it refuses, so its answer waits for the verdict, as does any
//! result that is to be one JSON object.

use eddy_language::{Command, Language, Options, Status, Verdict};
use eddy_syntax::SourceFile;

use crate::answers::Answers;
use crate::args::{CheckArgs, Program, Reporting, RunArgs};
use crate::input::{self, Unreadable};
use crate::json;
use crate::report::Form;
use crate::stop::Stop;

/// `eddy check`.
pub fn check(args: &CheckArgs) -> Result<Status, Stop> {
    let session = Session::new("check", &args.program, &args.reporting, args.stats)?;
    session.conclude(|file, answers| {
        let mut text = String::new();
        let verdict = session.language.check(file, &mut text).expect("a string can always be written");
        session.write_whole(&text, verdict.status, answers)?;
        Ok(verdict)
    })
}

/// `eddy run`.
pub fn run(args: &RunArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Run.name(), &args.program, &args.reporting, args.stats)?;
    let options = args.evaluation.options(session.language, Command::Run)?;
    session.conclude(|file, answers| match session.form {
        Form::Json => {
            let mut text = String::new();
            let verdict =
                session.language.run(file, &options, &mut text).expect("a string can always be written");
            session.write_whole(&text, verdict.status, answers)?;
            Ok(verdict)
        }
        _ => session.language.run(file, &options, answers),
    })
}

/// `eddy trace`.
pub fn trace(args: &RunArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Trace.name(), &args.program, &args.reporting, args.stats)?;
    let options = args.evaluation.options(session.language, Command::Trace)?;
    session.conclude(|file, answers| match session.form {
        Form::Json => trace_as_json(session.language, file, &options, answers),
        _ => session.language.trace(file, &options, answers),
    })
}

fn trace_as_json(
    language: &dyn Language,
    file: &SourceFile,
    options: &Options,
    answers: &mut Answers,
) -> Result<Verdict, std::fmt::Error> {
    let mut lines = json::Lines::new("trace", answers);
    let verdict = language.trace(file, options, &mut lines)?;
    lines.finish(verdict.status)?;
    Ok(verdict)
}

/// What the three commands share: a program, its language, and how to tell about it.
struct Session<'a> {
    command: &'static str,
    program: &'a Program,
    language: &'static dyn Language,
    form: Form,
    stats: bool,
}

impl<'a> Session<'a> {
    fn new(
        command: &'static str,
        program: &'a Program,
        reporting: &Reporting,
        stats: bool,
    ) -> Result<Self, Stop> {
        let language = program.lang.of(&program.file, command)?;
        Ok(Session { command, program, language, form: Form::new(reporting), stats })
    }

    /// Reads the program, lets the language answer, and reports what it had to say.
    fn conclude(
        &self,
        answer: impl FnOnce(&SourceFile, &mut Answers) -> Result<Verdict, std::fmt::Error>,
    ) -> Result<Status, Stop> {
        let file = match input::read(&self.program.file, self.language) {
            Ok(file) => file,
            Err(unreadable) => {
                let Unreadable { file, diagnostic } = *unreadable;
                self.form.diagnostics(&file, &[diagnostic]);
                return Ok(Status::Refused);
            }
        };
        let mut answers = Answers::to_stdout();
        let answered = answer(&file, &mut answers);
        // The answer first: on a terminal, what follows on standard error then stands below it.
        answers.finish()?;
        let verdict = answered.expect("a language fails to write only when its answer does");
        self.form.diagnostics(&file, &verdict.diagnostics);
        if self.stats {
            self.form.stats(&verdict.stats);
        }
        Ok(verdict.status)
    }

    /// Writes an answer that waited for the verdict; a refused program has none.
    fn write_whole(&self, text: &str, status: Status, answers: &mut Answers) -> std::fmt::Result {
        use std::fmt::Write;
        match (status, self.form) {
            (Status::Refused, _) => Ok(()),
            (_, Form::Json) => answers.write_str(&json::result(self.command, json::status(status), text)),
            _ => answers.write_str(text),
        }
    }
}
