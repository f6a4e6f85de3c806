//! The commands `check`, `run`, `trace`, `ask`, `enum`, `opt`, `intype`, `flow`, `diff` and `plan`: find the language, read the program, pass on its answer.
//!
//! A language promises to write nothing about a program that `run` or `trace` refuses, so their answers
//! stream. A check may have more to say before it refuses, so its answer waits for the verdict, as does any
//! result that is to be one JSON object.

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use eddy_language::{Command, Data, Language, OptionName, Options, Sink, Status, Verdict};
use eddy_runtime::Saved;
use eddy_syntax::Sources;
use eddy_tensor::Value;

use crate::answers::{Answers, Whole};
use crate::args::{
    AskArgs, CheckArgs, DiffArgs, EnumArgs, Evaluation, FlowArgs, GradcheckArgs, IntypeArgs, OptArgs,
    PlanArgs, Program, Reporting, RunArgs, ValueArgs, is_standard_input,
};
use crate::input::{self, Unreadable};
use crate::json;
use crate::report::Form;
use crate::stop::{Stop, misuse, reason};

/// `eddy check`.
pub fn check(args: &CheckArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Check, &args.program, &args.reporting, args.stats)?;
    let known = session.language.options(Command::Check).unwrap_or_default();
    if args.memory && !known.contains(&OptionName::MemoryReport) {
        let message =
            format!("`check` of the language {} does not understand `--memory`", session.language.name());
        return Err(misuse(Command::Check.name(), &message));
    }
    let options = Options { memory_report: args.memory, ..Options::default() };
    session.conclude(None, |sources, answers| session.answer_whole(sources, &options, Vec::new(), answers))
}

/// `eddy ask`.
pub fn ask(args: &AskArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Ask, &args.program, &args.reporting, args.stats)?;
    let read = match session.value_file(&args.value) {
        Ok(read) => read,
        Err(refused) => return Ok(refused),
    };
    let options = args.options(session.language, read)?;
    session.conclude(None, |sources, answers| session.answer_whole(sources, &options, Vec::new(), answers))
}

/// `eddy enum`.
pub fn enumerate(args: &EnumArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Enum, &args.program, &args.reporting, args.stats)?;
    let options = args.options(session.language)?;
    session.conclude(None, |sources, answers| session.answer_whole(sources, &options, Vec::new(), answers))
}

/// `eddy opt`.
pub fn optimise(args: &OptArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Opt, &args.program, &args.reporting, false)?;
    let options = args.options();
    session.conclude(None, |sources, answers| session.answer_whole(sources, &options, Vec::new(), answers))
}

/// `eddy intype`.
pub fn intype(args: &IntypeArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Intype, &args.program, &args.reporting, false)?;
    let read = match session.value_file(&args.value) {
        Ok(read) => read,
        Err(refused) => return Ok(refused),
    };
    let options = args.options(read)?;
    session.conclude(None, |sources, answers| session.answer_whole(sources, &options, Vec::new(), answers))
}

/// `eddy flow`.
pub fn flow(args: &FlowArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Flow, &args.program, &args.reporting, false)?;
    let options = Options { node: args.node.clone(), ..Options::default() };
    session.conclude(None, |sources, answers| session.answer_whole(sources, &options, Vec::new(), answers))
}

/// `eddy diff`.
pub fn diff(args: &DiffArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Diff, &args.program, &args.reporting, false)?;
    let options = Options {
        node: Some(args.node.clone()),
        constants: args.constants.clone(),
        shapes: args.shapes.clone(),
        dense: args.dense,
        finite: args.finite,
        ..Options::default()
    };
    session.conclude(None, |sources, answers| session.answer_whole(sources, &options, Vec::new(), answers))
}

/// `eddy plan`.
pub fn plan(args: &PlanArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Plan, &args.program, &args.reporting, false)?;
    let is_json = matches!(session.form, Form::Json);
    let options = Options {
        node: args.node.clone(),
        constants: args.constants.clone(),
        shapes: args.shapes.clone(),
        batch: args.batch,
        seed: args.seed,
        max_window: args.max_window.map(|cycles| usize::try_from(cycles).unwrap_or(usize::MAX)),
        checkpoints: args.checkpoint.is_some(),
        stream: args.stream,
        keep: args.keep,
        json: is_json,
        svg: args.svg.is_some(),
        ..Options::default()
    };
    if args.svg.as_ref().is_some_and(|to| same_file(&args.program.file, to)) {
        return Err(misuse(Command::Plan.name(), "the picture cannot take the place of the program itself"));
    }
    session.conclude(args.svg.as_deref(), |sources, answers| {
        let mut text = String::new();
        let verdict = session.answer(sources, &options, Vec::new(), &mut text)?;
        // The objects of plans are their own.
        if verdict.status != Status::Refused {
            answers.write_str(&text)?;
        }
        Ok(verdict)
    })
}

/// `eddy gradcheck`.
pub fn gradcheck(args: &GradcheckArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Gradcheck, &args.program, &args.reporting, false)?;
    let options = Options {
        node: Some(args.node.clone()),
        constants: args.constants.clone(),
        shapes: args.shapes.clone(),
        cycles: args.cycles,
        seed: args.seed,
        tolerance: args.tolerance,
        ..Options::default()
    };
    let Some(data) = session.data(&args.data) else { return Ok(Status::Refused) };
    session.conclude(None, |sources, answers| session.answer_whole(sources, &options, data, answers))
}

/// `eddy run`.
pub fn run(args: &RunArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Run, &args.program, &args.reporting, args.stats)?;
    let mut options = args.evaluation.options(session.language, Command::Run)?;
    if let Some(path) = &args.evaluation.params {
        match parameters(path) {
            Ok(values) => options.parameters = Some((path.display().to_string(), values)),
            Err(message) => {
                session.form.failure(&path.display().to_string(), &message);
                return Ok(Status::Refused);
            }
        }
    }
    let is_read = |named: &String| named == "-" || named.ends_with("=-");
    if is_standard_input(&args.program.file) && args.evaluation.data.iter().any(is_read) {
        return Err(misuse("run", "the program and its data cannot both be read from standard input"));
    }
    session.check_output(args.evaluation.out.as_deref(), &args.evaluation)?;
    let Some(data) = session.data(&args.evaluation.data) else { return Ok(Status::Refused) };
    session.conclude(args.evaluation.out.as_deref(), |sources, answers| match session.form {
        Form::Json => session.answer_whole(sources, &options, data, answers),
        _ => session.answer(sources, &options, data, answers),
    })
}

/// The values of a file of parameters.
pub fn parameters(path: &Path) -> Result<Vec<(String, Value)>, String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot read the file: {}", reason(&error)))?;
    let saved = Saved::decode(&bytes).map_err(|error| format!("is no file of parameters: {error}"))?;
    Ok(saved.values)
}

/// `eddy trace`.
pub fn trace(args: &RunArgs) -> Result<Status, Stop> {
    let session = Session::new(Command::Trace, &args.program, &args.reporting, args.stats)?;
    let options = args.evaluation.options(session.language, Command::Trace)?;
    let to = args.evaluation.svg.as_deref().or(args.evaluation.out.as_deref());
    session.check_output(to, &args.evaluation)?;
    let Some(data) = session.data(&args.evaluation.data) else { return Ok(Status::Refused) };
    session.conclude(to, |sources, answers| match session.form {
        Form::Json => {
            let mut lines = json::Lines::new(Command::Trace.name(), answers);
            let verdict = session.answer(sources, &options, data, &mut lines)?;
            lines.finish(verdict.status)?;
            Ok(verdict)
        }
        _ => session.answer(sources, &options, data, answers),
    })
}

/// What these commands share: a program, its language, and how to tell about it.
struct Session<'a> {
    command: Command,
    program: &'a Program,
    language: &'static dyn Language,
    form: Form,
    stats: bool,
}

impl<'a> Session<'a> {
    fn new(command: Command, program: &'a Program, reporting: &Reporting, stats: bool) -> Result<Self, Stop> {
        let language = program.lang.of(&program.file, command.name())?;
        if language.options(command).is_none() {
            let message = format!("the language {} has no command `{}`", language.name(), command.name());
            return Err(misuse(command.name(), &message));
        }
        let understands_equations =
            language.options(command).unwrap_or_default().contains(&OptionName::Equations);
        if program.equations.is_some() && !understands_equations {
            let (command, language) = (command.name(), language.name());
            let message = format!("`{command}` of the language {language} does not understand `--equations`");
            return Err(misuse(command, &message));
        }
        Ok(Session { command, program, language, form: Form::new(reporting), stats })
    }

    /// What the file of a value holds, if there is one; if it cannot be read, that is told, and nothing is asked.
    fn value_file(&self, args: &ValueArgs) -> Result<Option<String>, Status> {
        let Some(path) = &args.value_file else { return Ok(None) };
        match input::text(path) {
            Ok(text) => Ok(Some(text)),
            Err(reason) => {
                self.form.failure(&path.display().to_string(), &format!("cannot read the file: {reason}"));
                Err(Status::Refused)
            }
        }
    }

    /// The data that the program is to read; none if some cannot be opened, which is then told.
    fn data(&self, names: &[String]) -> Option<Vec<Data>> {
        let opened: Result<Vec<Data>, _> = names.iter().map(|named| input::data(named)).collect();
        opened
            .map_err(|(name, reason)| self.form.failure(&name, &format!("cannot read the file: {reason}")))
            .ok()
    }

    /// Reads the program, lets the language answer, and reports what it had to say. The answer goes to the file `to`, or
    /// to standard output.
    fn conclude(
        &self,
        to: Option<&Path>,
        answer: impl FnOnce(&mut Sources, &mut Answers) -> Result<Verdict, std::fmt::Error>,
    ) -> Result<Status, Stop> {
        let mut sources = match input::read(&self.program.file, self.language) {
            Ok(sources) => sources,
            Err(unreadable) => {
                let Unreadable { sources, diagnostic } = *unreadable;
                self.form.diagnostics(&sources, &[diagnostic]);
                return Ok(Status::Refused);
            }
        };
        let mut answers = match to.map_or_else(|| Ok(Answers::to_stdout()), Answers::to_file) {
            Ok(answers) => answers.telling(self.form),
            Err(error) => return Ok(self.cannot_write(to, &error)),
        };
        let answered = answer(&mut sources, &mut answers);
        let status = answered.as_ref().map_or(Status::Refused, |verdict| verdict.status);
        // The answer first: on a terminal, what follows on standard error then stands below it.
        match (answers.finish(status), to) {
            (Err(error), Some(_)) => return Ok(self.cannot_write(to, &error)),
            (finished, _) => finished?,
        }
        let verdict = answered.expect("a language fails to write only when its answer does");
        self.form.diagnostics(&sources, &verdict.diagnostics);
        if self.stats {
            self.form.stats(self.language, &verdict.stats);
        }
        Ok(verdict.status)
    }

    fn cannot_write(&self, to: Option<&Path>, error: &io::Error) -> Status {
        let name = to.map_or_else(String::new, |path| path.display().to_string());
        self.form.failure(&name, &format!("cannot write the file: {}", reason(error)));
        Status::Refused
    }

    /// The answer must not take the place of what it is made of.
    fn check_output(&self, to: Option<&Path>, evaluation: &Evaluation) -> Result<(), Stop> {
        let Some(to) = to.filter(|to| to.exists()) else { return Ok(()) };
        let is_same = |path: &Path| same_file(path, to);
        let what = if is_same(&self.program.file) {
            "the program itself"
        } else if evaluation.data.iter().any(|named| is_same(Path::new(input::path_of(named)))) {
            "a file that the program reads"
        } else {
            return Ok(());
        };
        let message = format!("the answer cannot be written to `{}`: it is {what}", to.display());
        Err(misuse(self.command.name(), &message))
    }

    /// The answer as it comes.
    fn answer(
        &self,
        sources: &mut Sources,
        options: &Options,
        data: Vec<Data>,
        out: &mut dyn Sink,
    ) -> Result<Verdict, std::fmt::Error> {
        let options = Options { equations: self.program.equations, ..options.clone() };
        self.language.answer(self.command, sources, &options, data, out)
    }

    /// An answer that waits for the verdict; a refused program has none.
    fn answer_whole(
        &self,
        sources: &mut Sources,
        options: &Options,
        data: Vec<Data>,
        answers: &mut Answers,
    ) -> Result<Verdict, std::fmt::Error> {
        let mut whole = Whole { text: String::new(), answers };
        let verdict =
            self.answer(sources, options, data, &mut whole).expect("a string can always be written");
        let Whole { text, answers } = whole;
        match (verdict.status, self.form) {
            (Status::Refused, _) => {}
            (status, Form::Json) => {
                answers.write_str(&json::result(self.command.name(), json::status(status), &text))?;
            }
            _ => answers.write_str(&text)?,
        }
        Ok(verdict)
    }
}

/// Whether two paths lead to one file, by whatever way.
fn same_file(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}
