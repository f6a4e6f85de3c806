//! The command `train`: runs epochs, saves them, and decides when to stop.
//!
//! * [`folder`]: the run folder, from which a run can be resumed; [`lock`]: ensures a single writer.
//! * [`description`]: describes the run and finds changes since. [`metrics`]: the measurements of each epoch.
//! * [`progress`]: the progress display. [`curve`]: draws the losses; [`mod@answers`] what was answered.
//! * [`memory`]: how much memory the process takes. [`mod@compare`]: several runs side by side.

mod answers;
mod compare;
mod curve;
mod description;
mod folder;
mod lock;
mod memory;
mod metrics;
mod progress;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use eddy_driver::train::{Split, TrainPlan};
use eddy_driver::{Encoding, Precision, Refusal, TrainRequest, Trainer};
use eddy_formats::Mapping;
use eddy_syntax::Sources;
use serde_json::Value;

use crate::answers::Answers;
use crate::command_line::misuse;
use crate::json;
use crate::languages::reactive::derivatives::TrainArgs;
use crate::languages::reactive::{Announcer, open_all, parameters, settings};
use crate::report::Form;
use crate::reproduction;
use crate::session::Session;
use crate::status::Status;
use crate::stop::Stop;
use answers::Answers as Answered;
use description::Description;
use folder::{Checkpoint, Folder};
pub use metrics::Goal;
use metrics::{Epoch, is_free};
use progress::Bar;

/// `eddy train`.
pub fn train(args: TrainArgs, session: &Session) -> Result<Status, Stop> {
    let form = session.form;
    check_split(&args)?;
    check_metrics(&args)?;
    let Some(sources) = session.sources() else { return Ok(Status::Refused) };
    let Some(trainer) = make(&args, sources, form) else { return Ok(Status::Refused) };
    let encoding = trainer.plan().encoding;
    let mut run = Run { args: &args, file: &session.file, form, trainer, encoding, has_warned: false };
    match run.execute() {
        Ok((text, answer)) => {
            let mut answers = Answers::to_stdout();
            match form {
                Form::Json => {
                    let status = Status::Answered.word();
                    answers.write(&json::result("train", status, &text, &answer))?;
                }
                _ => answers.write(&text)?,
            }
            answers.finish(Status::Answered)?;
            Ok(Status::Answered)
        }
        Err(TrainingError::Reported) => Ok(Status::Refused),
        Err(TrainingError::File(file, message)) => {
            form.failure(&file, &message);
            Ok(Status::Refused)
        }
    }
}

/// The node, ready for training; `None` after an error, which is reported.
fn make(args: &TrainArgs, sources: Sources, form: Form) -> Option<Trainer> {
    let format = args.reading.in_format;
    let data = open_all(&args.data, format, form)?;
    let validation = open_all(&args.validate, format, form)?;
    let mut encoding = args.reading.encoding(known_encoding(args));
    encoding.skips_missing = args.skip_missing;
    if args.target.is_some() {
        encoding.target.clone_from(&args.target);
    }
    let request = TrainRequest {
        encoding,
        normalise: args.normalize.clone(),
        split: split(args),
        stream: args.stream,
        pad: args.pad,
        precision: args.f32.then_some(Precision::Single),
        metrics: args.metrics.clone(),
        keeps_answers: args.answers,
        node: args.node.clone(),
        constants: args.constants.clone(),
        seed: args.seed,
        shuffle: !args.no_shuffle,
        sequence: args.sequence,
        cut: args.cut,
        batch: args.batch,
        batch_loss: args.batch_loss,
        max_window: args.max_window,
        checkpoints: args.checkpoint.is_some(),
        engine: args.engine,
    };
    let settings = settings(args.threads, args.limits.read());
    let session = eddy_driver::Session::new(settings, Arc::new(Announcer { form, output: None }));
    let trainer = session.load(sources).and_then(|program| program.trainer(&request, data, validation));
    match trainer {
        Ok(trainer) => Some(trainer),
        Err(Refusal { diagnostics, sources }) => {
            form.diagnostics(&sources, &diagnostics);
            None
        }
    }
}

/// The encoding of the data of the run to resume, or of given parameters. Files that cannot be read are
/// reported when their contents are needed.
fn known_encoding(args: &TrainArgs) -> Encoding {
    let known = match (&args.run, args.resume, &args.params) {
        (Some(run), true, _) => folder::encoding(run),
        (_, _, Some(path)) => parameters(path).ok().map(|(_, encoding)| encoding),
        _ => None,
    };
    known.unwrap_or_default()
}

/// How the data are divided. With a column and no part, its value chooses the rows for validation.
fn split(args: &TrainArgs) -> Option<Split> {
    let by = args.split_by.as_deref();
    match (args.split, by.map(|by| by.split_once('=').unwrap_or((by, "")))) {
        (None, None) => None,
        (Some(fraction), None) => Some(Split::Fraction(fraction)),
        (None, Some((column, value))) => {
            Some(Split::Value { column: column.to_string(), value: value.to_string() })
        }
        (Some(fraction), Some((column, _))) => Some(Split::Groups { column: column.to_string(), fraction }),
    }
}

/// Refuses options that contradict each other.
fn check_split(args: &TrainArgs) -> Result<(), Stop> {
    let message = match (&args.split_by, args.split) {
        (Some(by), Some(_)) if by.contains('=') => {
            "`--split-by COLUMN=VALUE` says which rows are for validation, so `--split` has no meaning"
        }
        (Some(by), None) if !by.contains('=') => {
            "`--split-by COLUMN` needs the part to learn from, `--split 0.8`, or the value of the rows for validation, `--split-by COLUMN=VALUE`"
        }
        _ => return Ok(()),
    };
    Err(misuse("train", message))
}

/// Refuses metrics with the names of other measurements, and a goal that is not measured.
fn check_metrics(args: &TrainArgs) -> Result<(), Stop> {
    if let Some(taken) = args.metrics.iter().find(|name| !is_free(name)) {
        return Err(misuse("train", &format!("a metric cannot have the name `{taken}`")));
    }
    let Some(goal) = args.best.as_ref().and_then(|goal| goal.name()) else { return Ok(()) };
    let has_validation = !args.validate.is_empty() || args.split.is_some() || args.split_by.is_some();
    let is_metric = |metric: &String| {
        goal == metric || goal.strip_prefix(metric.as_str()).is_some_and(|rest| rest.starts_with('.'))
    };
    let is_known = goal == "loss" || goal == "validation" && has_validation;
    if is_known || args.metrics.iter().any(is_metric) {
        return Ok(());
    }
    let message = format!("`--best` names `{goal}`, which is not measured: name it with `--metric {goal}`");
    Err(misuse("train", &message))
}

/// `eddy train --compare`.
pub fn compare(folders: &[std::path::PathBuf], svg: Option<&Path>, form: Form) -> Result<Status, Stop> {
    compare::compare(folders, svg, form)
}

/// Why a run ended early.
enum TrainingError {
    /// The diagnostics were reported.
    Reported,
    /// A file could not be read or written: its name and the reason.
    File(String, String),
}

struct Run<'a> {
    args: &'a TrainArgs,
    /// The program.
    file: &'a Path,
    form: Form,
    trainer: Trainer,
    /// How data become inputs.
    encoding: Encoding,
    /// Whether an epoch has printed warnings: later ones would repeat them.
    has_warned: bool,
}

impl Run<'_> {
    fn execute(&mut self) -> Result<(String, Value), TrainingError> {
        let plan = self.trainer.plan();
        self.form.diagnostics(self.trainer.sources(), &self.trainer.warnings());
        let stem = self.file.file_stem().map_or("program".into(), |stem| stem.to_string_lossy());
        let default = Path::new("runs").join(format!("{stem}-{}", plan.node));
        let place = self.args.run.as_deref().unwrap_or(&default);
        let mut folder = Folder::open(place, self.args.resume)?;
        let mut checkpoint = self.begin(&mut folder)?;
        self.print_progress(&progress::begin(&plan, &folder, checkpoint.n_epochs));
        let description = Description::new(self.args, self.file, &plan, self.trainer.sources());
        let changes = folder.description().map(|before| description.changes(&before)).unwrap_or_default();
        for note in folder.notes.iter().chain(&changes) {
            self.print_progress(&format!("note: {note}\n"));
        }
        // A finished run stays unchanged, to the last byte.
        if let Some(why) = self.finished(&checkpoint) {
            self.print_progress(&format!("this run is finished: {why}\n"));
            return Ok(self.answer(&checkpoint, &folder, &plan));
        }
        folder.begin(&description.text(), &checkpoint)?;
        self.compare_engines(&checkpoint, &folder);
        while self.finished(&checkpoint).is_none() {
            self.epoch(&mut checkpoint, plan.n_rows, &folder)?;
        }
        if checkpoint.n_epochs < self.args.epochs {
            self.print_progress(&progress::stopped(&checkpoint));
        }
        let (mut text, mut answer) = self.answer(&checkpoint, &folder, &plan);
        if self.args.answers
            && let Some(answers) = self.answers(&folder, &plan)?
        {
            text += &answers.text();
            answer["answers"] = answers.as_data();
        }
        Ok((text, answer))
    }

    /// The result, as text and as data.
    fn answer(&self, checkpoint: &Checkpoint, folder: &Folder, plan: &TrainPlan) -> (String, Value) {
        let text = progress::answer(checkpoint, folder, self.file, &plan.model);
        (text, progress::answer_as_data(checkpoint, folder, plan))
    }

    /// The answers of the best parameters; draws them.
    fn answers(&self, folder: &Folder, plan: &TrainPlan) -> Result<Option<Answered>, TrainingError> {
        let path = folder.parameters();
        let failed = |message: String| TrainingError::File(path.display().to_string(), message);
        let (best, _) = parameters(&path).map_err(failed)?;
        let pairs = self.trainer.answers(&best, answers::MOST).map_err(|refusal| self.reported(&refusal))?;
        // The texts of the target's only column are the names of its classes.
        let Encoding { target, categories, .. } = &plan.encoding;
        let mapping = target.as_ref().and_then(|columns| Mapping::new("target", columns).ok());
        let column = mapping.as_ref().map_or(plan.target.as_deref(), |mapping| mapping.named().next());
        let table = categories.iter().find(|table| Some(table.column.as_str()) == column);
        let names = table.map_or(&[][..], |table| &table.texts);
        let answers = Answered::new(&pairs, names);
        match &answers {
            Some(answers) => folder.draw_answers(&answers.svg())?,
            None => self
                .print_progress("note: the answers are neither classes nor numbers, so they are not drawn\n"),
        }
        Ok(answers)
    }

    /// The reason for not running another epoch, if there is one.
    fn finished(&self, checkpoint: &Checkpoint) -> Option<String> {
        let patience = self.args.patience.filter(|patience| checkpoint.is_stuck(*patience));
        if checkpoint.n_epochs >= self.args.epochs {
            Some(format!("{} of {} epochs are done", checkpoint.n_epochs, self.args.epochs))
        } else if let (Some(patience), Some((best, _))) = (patience, &checkpoint.best) {
            Some(format!("nothing was better than epoch {best} in `--patience {patience}` epochs"))
        } else {
            None
        }
    }

    /// The first state of the run: new, with given parameters, or from a checkpoint.
    fn begin(&mut self, folder: &mut Folder) -> Result<Checkpoint, TrainingError> {
        if let Some((checkpoint, state)) = folder.checkpoint()? {
            let restored = self.trainer.restore(state);
            restored.map_err(|error| {
                TrainingError::File(folder.checkpoint_name(), format!("does not fit: {error}"))
            })?;
            return Ok(checkpoint);
        }
        if let Some(path) = &self.args.params {
            let name = path.display().to_string();
            let failed = |message: String| TrainingError::File(name.clone(), message);
            self.trainer
                .start_from(parameters(path).map_err(failed)?.0)
                .map_err(|error| failed(format!("does not fit: {error}")))?;
        }
        Ok(Checkpoint::default())
    }

    fn epoch(
        &mut self,
        checkpoint: &mut Checkpoint,
        n_rows: usize,
        folder: &Folder,
    ) -> Result<(), TrainingError> {
        let number = checkpoint.n_epochs + 1;
        let started = Instant::now();
        let lasted = checkpoint.history.last().map(|(_, epoch)| epoch.seconds);
        let bar = Bar::new(number, self.args.epochs, n_rows, lasted);
        let trained = self.trainer.epoch(number as u64, &mut |progress| {
            bar.show(progress);
            ControlFlow::Continue(())
        });
        bar.finish();
        let trained = match trained.map_err(|refusal| self.reported(&refusal))? {
            eddy_driver::train::Epoch::Done(measured) => measured,
            eddy_driver::train::Epoch::Cancelled => unreachable!("the closure above never stops an epoch"),
        };
        let validated = self.trainer.validate().map_err(|refusal| self.reported(&refusal))?;
        let metrics = self.trainer.measure().map_err(|refusal| self.reported(&refusal))?;
        let epoch = Epoch::new(&trained, validated.as_ref(), started.elapsed().as_secs_f64());
        let memory = if self.args.trace_memory { memory::largest() } else { None };
        let epoch = epoch.with_metrics(metrics, memory);
        self.print_progress(&progress::epoch(number, &trained, validated.as_ref(), &epoch));
        if !trained.warnings.is_empty() && !std::mem::replace(&mut self.has_warned, true) {
            self.form.diagnostics(self.trainer.sources(), &trained.warnings);
        }
        let goal = self.args.best.clone().unwrap_or(Goal::LOSS);
        let is_best = checkpoint.add(epoch, &goal);
        let is_last = self.finished(checkpoint).is_some();
        let best = is_best.then(|| self.trainer.parameters());
        folder.save(checkpoint, &self.encoding, self.trainer.persistent_state(), best, is_last)
    }

    /// Compares compiled code with the simulator, unless no epoch follows.
    fn compare_engines(&mut self, checkpoint: &Checkpoint, folder: &Folder) {
        let n_done = checkpoint.n_epochs;
        let n_epochs = self.args.epochs.saturating_sub(n_done);
        if self.args.no_shadow || n_epochs == 0 {
            return;
        }
        let found = self.trainer.compare_engines(n_done as u64 + 1, n_epochs);
        for disagreement in found.disagreements {
            reproduction::report(self.form, self.trainer.sources(), folder.path(), disagreement);
        }
        for note in found.notes {
            self.print_progress(&format!("note: {note}\n"));
        }
    }

    /// Prints progress. Programs that read JSON read the run folder instead.
    fn print_progress(&self, text: &str) {
        if !matches!(self.form, Form::Json) {
            // If standard error is closed, the progress is lost.
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }

    fn reported(&self, refusal: &Refusal) -> TrainingError {
        self.form.diagnostics(&refusal.sources, &refusal.diagnostics);
        TrainingError::Reported
    }
}
