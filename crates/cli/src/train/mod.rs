//! The command `train`: epochs, what is kept of them, and when to stop.
//!
//! * [`folder`]: the run folder, from which a run can be resumed; [`lock`]: its one writer.
//! * [`description`]: what was run, and what has changed since. [`metrics`]: what is measured in each epoch.
//! * [`progress`]: what is seen meanwhile. [`curve`]: the losses as a picture.

mod curve;
mod description;
mod folder;
mod lock;
mod metrics;
mod progress;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use eddy_language::{Data, Language, Status, TrainOptions, Trainer};
use eddy_runtime::Saved;
use eddy_syntax::Sources;

use crate::answers::Answers;
use crate::args::TrainArgs;
use crate::input::{self, Unreadable};
use crate::json;
use crate::report::Form;
use crate::reproduction;
use crate::stop::{Stop, misuse, reason};
use description::Description;
use folder::{Checkpoint, Folder};
use metrics::Epoch;
use progress::Bar;

/// `eddy train`.
pub fn train(args: &TrainArgs) -> Result<Status, Stop> {
    let form = Form::new(&args.reporting);
    let language = args.program.lang.of(&args.program.file, "train")?;
    let mut sources = match input::read(&args.program.file, language) {
        Ok(sources) => sources,
        Err(unreadable) => {
            let Unreadable { sources, diagnostic } = *unreadable;
            form.diagnostics(&sources, &[diagnostic]);
            return Ok(Status::Refused);
        }
    };
    let trainer = match make(args, language, &mut sources, form) {
        Ok(Some(trainer)) => trainer,
        Ok(None) => return Ok(Status::Refused),
        Err(stop) => return Err(stop),
    };
    let mut run = Run { args, form, sources, trainer, has_warned: false };
    match run.execute() {
        Ok(answer) => {
            let mut answers = Answers::to_stdout();
            match form {
                Form::Json => {
                    answers.write(&json::result("train", json::status(Status::Answered), &answer))?;
                }
                _ => answers.write(&answer)?,
            }
            answers.finish(Status::Answered)?;
            Ok(Status::Answered)
        }
        Err(Failure::Told) => Ok(Status::Refused),
        Err(Failure::File(file, message)) => {
            form.failure(&file, &message);
            Ok(Status::Refused)
        }
    }
}

/// The node, ready to be trained; none if something is wrong, which was told.
fn make(
    args: &TrainArgs,
    language: &'static dyn Language,
    sources: &mut Sources,
    form: Form,
) -> Result<Option<Box<dyn Trainer>>, Stop> {
    let open = |names: &[String]| -> Option<Vec<Data>> {
        let opened: Result<Vec<Data>, _> = names.iter().map(|named| input::data(named)).collect();
        opened.map_err(|(name, reason)| form.failure(&name, &format!("cannot read the file: {reason}"))).ok()
    };
    let (Some(data), Some(validation)) = (open(&args.data), open(&args.validate)) else { return Ok(None) };
    let options = TrainOptions {
        node: args.node.clone(),
        constants: args.constants.clone(),
        seed: args.seed,
        shuffle: !args.no_shuffle,
        sequence: args.sequence,
        cut: args.cut,
        batch: args.batch,
        batch_loss: args.batch_loss,
        threads: args.threads,
        max_window: args.max_window,
        checkpoints: args.checkpoint.is_some(),
        engine: args.engine.clone(),
        no_shadow: args.no_shadow,
        equations: args.program.equations,
    };
    match language.trainer(sources, &options, data, validation) {
        None => Err(misuse("train", &format!("the language {} does not learn", language.name()))),
        Some(Ok(trainer)) => Ok(Some(trainer)),
        Some(Err(diagnostics)) => {
            form.diagnostics(sources, &diagnostics);
            Ok(None)
        }
    }
}

/// Why a run ended early.
enum Failure {
    /// The diagnostics were told.
    Told,
    /// A file could not be read or written: its name and why.
    File(String, String),
}

struct Run<'a> {
    args: &'a TrainArgs,
    form: Form,
    sources: Sources,
    trainer: Box<dyn Trainer>,
    /// Whether an epoch has had warnings: later ones would repeat them.
    has_warned: bool,
}

impl Run<'_> {
    fn execute(&mut self) -> Result<String, Failure> {
        let plan = self.trainer.plan();
        self.form.diagnostics(&self.sources, &self.trainer.warnings());
        let stem = self.args.program.file.file_stem().map_or("program".into(), |stem| stem.to_string_lossy());
        let default = Path::new("runs").join(format!("{stem}-{}", plan.node));
        let place = self.args.run.as_deref().unwrap_or(&default);
        let mut folder = Folder::open(place, self.args.resume)?;
        let mut checkpoint = self.begin(&mut folder)?;
        self.tell(&progress::begin(&plan, &folder, checkpoint.n_epochs));
        let description = Description::new(self.args, &plan, &self.sources);
        let before = folder.description().unwrap_or_default();
        for note in folder.notes.iter().chain(&description.changes(&before)) {
            self.tell(&format!("note: {note}\n"));
        }
        // A run that is finished stays as it is, to the last byte.
        if let Some(why) = self.finished(&checkpoint) {
            self.tell(&format!("this run is finished: {why}\n"));
            return Ok(progress::answer(&checkpoint, &folder, &self.args.program.file, &plan.model));
        }
        folder.begin(&description.text(), &checkpoint)?;
        self.compare_engines(&checkpoint, &folder);
        while self.finished(&checkpoint).is_none() {
            self.epoch(&mut checkpoint, plan.n_rows, &folder)?;
        }
        if checkpoint.n_epochs < self.args.epochs {
            self.tell(&progress::stopped(&checkpoint));
        }
        Ok(progress::answer(&checkpoint, &folder, &self.args.program.file, &plan.model))
    }

    /// Why there are no more epochs, if there are none.
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

    /// Where the run begins: anew, with given parameters, or where it was.
    fn begin(&mut self, folder: &mut Folder) -> Result<Checkpoint, Failure> {
        if let Some((checkpoint, memory)) = folder.checkpoint()? {
            let restored = self.trainer.restore(memory);
            restored
                .map_err(|error| Failure::File(folder.checkpoint_name(), format!("does not fit: {error}")))?;
            return Ok(checkpoint);
        }
        if let Some(path) = &self.args.params {
            let name = path.display().to_string();
            let failed = |message: String| Failure::File(name.clone(), message);
            let bytes = fs::read(path)
                .map_err(|error| failed(format!("cannot read the file: {}", reason(&error))))?;
            let saved = Saved::decode(&bytes)
                .map_err(|error| failed(format!("is no file of parameters: {error}")))?;
            self.trainer
                .start_from(saved.values)
                .map_err(|error| failed(format!("does not fit: {error}")))?;
        }
        Ok(Checkpoint::default())
    }

    fn epoch(&mut self, checkpoint: &mut Checkpoint, n_rows: usize, folder: &Folder) -> Result<(), Failure> {
        let number = checkpoint.n_epochs + 1;
        let started = Instant::now();
        let bar = Bar::new(number, self.args.epochs, n_rows);
        let trained = self.trainer.epoch(number as u64, &mut |progress| bar.show(progress));
        bar.finish();
        let trained = trained.map_err(|diagnostics| self.told(&diagnostics))?;
        let validated = self.trainer.validate().map_err(|diagnostics| self.told(&diagnostics))?;
        let epoch = Epoch::new(&trained, validated.as_ref(), started.elapsed().as_secs_f64());
        self.tell(&progress::epoch(number, &trained, validated.as_ref(), epoch.seconds));
        if !trained.warnings.is_empty() && !std::mem::replace(&mut self.has_warned, true) {
            self.form.diagnostics(&self.sources, &trained.warnings);
        }
        let is_best = checkpoint.add(epoch);
        let is_last = self.finished(checkpoint).is_some();
        let best = is_best.then(|| self.trainer.parameters());
        folder.save(checkpoint, self.trainer.memory(), best, is_last)
    }

    /// Compares compiled code with the simulator, unless no epoch is to come.
    fn compare_engines(&mut self, checkpoint: &Checkpoint, folder: &Folder) {
        let n_done = checkpoint.n_epochs;
        let n_epochs = self.args.epochs.saturating_sub(n_done);
        if self.args.no_shadow || n_epochs == 0 {
            return;
        }
        let found = self.trainer.compare_engines(&self.sources, n_done as u64 + 1, n_epochs);
        for disagreement in found.disagreements {
            reproduction::tell(self.form, &self.sources, folder.path(), disagreement);
        }
        for note in found.notes {
            self.tell(&format!("note: {note}\n"));
        }
    }

    /// Tells how far it is. Programs that read JSON look into the run folder instead.
    fn tell(&self, text: &str) {
        if !matches!(self.form, Form::Json) {
            // Where standard error is closed there is nobody to tell.
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }

    fn told(&self, diagnostics: &[eddy_syntax::Diagnostic]) -> Failure {
        self.form.diagnostics(&self.sources, diagnostics);
        Failure::Told
    }
}
