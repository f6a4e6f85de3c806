//! The run folder: the files of a run, each written in one step.
//!
//! ```text
//! run.json                 what was run: program, node, all options, hashes of the sources and the data
//! metrics.jsonl            a line for each epoch
//! loss.svg                 the losses and the metrics, drawn
//! answers.svg              the answers of the best parameters against the wanted values, with `--answers`
//! parameters.safetensors   the best parameters so far, for `eddy run --params`
//! checkpoint.safetensors   all that the next epoch depends on, for `--resume`
//! lock                     held by the process that writes here
//! ```
//!
//! The checkpoint is written last and contains the number of epochs. So a run that is killed at any moment
//! resumes after the last complete epoch; entries of other files about later epochs are dropped. The amount
//! written per epoch does not grow with the number of epochs: metrics are appended, and the picture is
//! redrawn each time that number has grown by a tenth.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use eddy_formats::{Encoding, Saved};
use eddy_tensor::Value;
use serde_json::json;

use super::TrainingError;
use super::curve;
use super::lock::{LOCK, Lock, NotLocked};
use super::metrics::{Epoch, Goal};
use crate::replacement::{replace, sync_folder};
use crate::stop::reason;

const CHECKPOINT: &str = "checkpoint.safetensors";
const PARAMETERS: &str = "parameters.safetensors";
const METRICS: &str = "metrics.jsonl";
const CURVE: &str = "loss.svg";
const ANSWERS: &str = "answers.svg";
const DESCRIPTION: &str = "run.json";
const FILES: [&str; 6] = [DESCRIPTION, METRICS, CURVE, ANSWERS, PARAMETERS, CHECKPOINT];

/// A run folder that no other process writes to.
pub struct Folder {
    path: PathBuf,
    is_resumed: bool,
    /// `None` if the file system has no locks.
    lock: Option<Lock>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// The state that the next epoch depends on, by name.
type PersistentState = Vec<(String, Value)>;

/// The progress of a run.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    /// The number of complete epochs.
    pub n_epochs: usize,
    /// The best epoch, counted from 1, and its measurements; `None` before the first epoch, and if its
    /// parameters were lost.
    pub best: Option<(usize, Epoch)>,
    /// The epochs so far, with their numbers, as far as the metrics contain them.
    pub history: Vec<(usize, Epoch)>,
}

impl Checkpoint {
    /// Adds an epoch; returns whether it is the best so far.
    pub fn add(&mut self, epoch: Epoch, goal: &Goal) -> bool {
        self.n_epochs += 1;
        let is_best = self.best.as_ref().is_none_or(|(_, best)| goal.is_better(&epoch, best));
        if is_best {
            self.best = Some((self.n_epochs, epoch.clone()));
        }
        self.history.push((self.n_epochs, epoch));
        is_best
    }

    /// Whether the last `patience` epochs brought no improvement.
    pub fn is_stuck(&self, patience: usize) -> bool {
        self.best.as_ref().is_some_and(|(best, _)| self.n_epochs - best >= patience)
    }

    fn epochs(&self) -> Vec<Epoch> {
        self.history.iter().map(|(_, epoch)| epoch.clone()).collect()
    }

    /// The losses as a picture for terminals.
    pub fn curve(&self) -> String {
        curve::text(&self.epochs())
    }
}

impl Folder {
    /// The folder of a new run, or of a resumed one.
    pub fn open(place: &Path, is_resumed: bool) -> Result<Folder, TrainingError> {
        if place.exists() && !place.is_dir() {
            let message = "is a file; a run needs a folder".to_string();
            return Err(TrainingError::File(place.display().to_string(), message));
        }
        let folder = if is_resumed { Folder::existing(place)? } else { Folder::fresh(place)? };
        folder.sweep();
        Ok(folder)
    }

    /// The folder of a resumed run, or of one that was killed before its first complete epoch and starts
    /// again.
    fn existing(place: &Path) -> Result<Folder, TrainingError> {
        let failed = |message: String| TrainingError::File(place.display().to_string(), message);
        let without_checkpoint = || failed("there is no checkpoint to resume from".to_string());
        if !place.is_dir() {
            return Err(without_checkpoint());
        }
        let mut folder = Folder::locked(place).map_err(|holder| {
            failed(format!(
                "{holder} is training in this folder; wait until it ends, or name another `--run`"
            ))
        })?;
        folder.is_resumed = folder.file(CHECKPOINT).exists();
        if !folder.is_resumed {
            if !has_only_own_files(place) {
                return Err(without_checkpoint());
            }
            folder.notes.push("no epoch of this run was complete, so it starts again".to_string());
            folder.clear();
        }
        Ok(folder)
    }

    /// The first of `place`, `place-2`, `place-3` and so on that does not exist, or whose run was killed
    /// before its first complete epoch.
    fn fresh(place: &Path) -> Result<Folder, TrainingError> {
        let failed = |path: &Path, error: &io::Error| {
            let message = format!("cannot make the folder: {}", reason(error));
            TrainingError::File(path.display().to_string(), message)
        };
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(|error| failed(place, &error))?;
        }
        let numbered = (2..).map(|number| PathBuf::from(format!("{}-{number}", place.display())));
        for path in std::iter::once(place.to_path_buf()).chain(numbered) {
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if path.join(CHECKPOINT).exists() || !has_only_own_files(&path) {
                        continue;
                    }
                }
                Err(error) => return Err(failed(&path, &error)),
            }
            // Another process may have started the same run a moment ago.
            let Ok(folder) = Folder::locked(&path) else { continue };
            if !folder.file(CHECKPOINT).exists() {
                folder.clear();
                return Ok(folder);
            }
        }
        unreachable!("there are more numbers than folders")
    }

    /// Locks a folder for this process; the error describes the process that holds the lock.
    fn locked(path: &Path) -> Result<Folder, String> {
        let mut folder =
            Folder { path: path.to_path_buf(), is_resumed: false, lock: None, notes: Vec::new() };
        match Lock::new(path) {
            Ok(lock) => folder.lock = Some(lock),
            Err(NotLocked::Held(holder)) => return Err(holder),
            Err(NotLocked::Failed(error)) => {
                let why = reason(&error);
                folder
                    .notes
                    .push(format!("the folder cannot be locked ({why}): let no other process train in it"));
            }
        }
        Ok(folder)
    }

    /// Removes the files of a run without a complete epoch.
    fn clear(&self) {
        for name in FILES {
            // Each of these files is written again.
            let _ = fs::remove_file(self.file(name));
        }
    }

    /// Removes temporary files of a killed run.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            if is_temporary(&entry.file_name().to_string_lossy()) {
                // A file that cannot be removed does no harm.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes this process into the lock file, for messages of other processes.
    pub fn sign(&mut self) {
        if let Some(lock) = &mut self.lock {
            lock.sign();
        }
    }

    /// The path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The best parameters.
    pub fn parameters(&self) -> PathBuf {
        self.file(PARAMETERS)
    }

    /// The name of the checkpoint in messages.
    pub fn checkpoint_name(&self) -> String {
        self.file(CHECKPOINT).display().to_string()
    }

    /// The checkpoint of a run and its state; `None` for a new run.
    pub fn checkpoint(&mut self) -> Result<Option<(Checkpoint, PersistentState)>, TrainingError> {
        if !self.is_resumed {
            return Ok(None);
        }
        let name = self.checkpoint_name();
        let failed = |message: String| TrainingError::File(name.clone(), message);
        let bytes = fs::read(self.file(CHECKPOINT))
            .map_err(|error| failed(format!("cannot read the file: {}", reason(&error))))?;
        let saved = Saved::decode(&bytes).map_err(|error| failed(format!("is no checkpoint: {error}")))?;
        let note: serde_json::Value =
            serde_json::from_str(&saved.note).map_err(|_| failed("is no checkpoint of a run".to_string()))?;
        let damaged = || failed("does not say what the run has done so far".to_string());
        let number = |key: &str| {
            let number = note.get(key).and_then(serde_json::Value::as_u64);
            number.and_then(|n| usize::try_from(n).ok()).ok_or_else(damaged)
        };
        let (n_epochs, best) = (number("epochs")?, number("best")?);
        let measured = note.get("measured").and_then(Epoch::from_result).ok_or_else(damaged)?;
        if !(1..=n_epochs).contains(&best) {
            return Err(damaged());
        }
        let history = self.history(n_epochs);
        let best = self.has_parameters(best).then_some((best, measured));
        let (state, _) =
            split(saved).map_err(|why| TrainingError::File(name, format!("is damaged: {why}")))?;
        Ok(Some((Checkpoint { n_epochs, best, history }, state)))
    }

    /// Whether the parameters of the best epoch exist. If not, that epoch is forgotten and the best later one
    /// is kept.
    fn has_parameters(&mut self, best: usize) -> bool {
        let decoded = fs::read(self.parameters()).ok().is_some_and(|bytes| Saved::decode(&bytes).is_ok());
        if !decoded {
            self.notes.push(format!(
                "`{PARAMETERS}` is lost or damaged: it had the parameters of epoch {best}, the best so far; the best of later epochs are kept"
            ));
        }
        decoded
    }

    /// The epochs in the metrics, up to the checkpoint.
    fn history(&mut self, n_epochs: usize) -> Vec<(usize, Epoch)> {
        let metrics = fs::read_to_string(self.file(METRICS)).unwrap_or_default();
        let mut found: Vec<(usize, Epoch)> = Vec::new();
        for (number, epoch) in metrics.lines().filter_map(Epoch::from_line) {
            let last = found.last().map_or(0, |(last, _)| *last);
            if (last + 1..=n_epochs).contains(&number) {
                found.push((number, epoch));
            }
        }
        let n_lost = n_epochs - found.len();
        if n_lost > 0 {
            self.notes.push(format!(
                "`{METRICS}` has lost {n_lost} of {n_epochs} epochs; training continues without them"
            ));
        }
        found
    }

    /// The text of the existing `run.json`, empty if it cannot be read; `None` for a new run.
    pub fn description(&self) -> Option<String> {
        self.is_resumed.then(|| fs::read_to_string(self.file(DESCRIPTION)).unwrap_or_default())
    }

    /// Writes the description of the run, and the metrics of the epochs that are complete.
    pub fn begin(&mut self, description: &str, checkpoint: &Checkpoint) -> Result<(), TrainingError> {
        self.sign();
        self.write(DESCRIPTION, description.as_bytes())?;
        let lines = checkpoint.history.iter().map(|(number, epoch)| epoch.line(*number)).collect::<String>();
        self.write(METRICS, lines.as_bytes())
    }

    /// Saves an epoch: metrics, picture, parameters if they are the best, and last the checkpoint.
    pub fn save(
        &self,
        checkpoint: &Checkpoint,
        encoding: &Encoding,
        state: PersistentState,
        best: Option<PersistentState>,
        is_last: bool,
    ) -> Result<(), TrainingError> {
        let Some((number, epoch)) = checkpoint.history.last() else { return Ok(()) };
        self.append(METRICS, epoch.line(*number).as_bytes())?;
        if is_last || is_drawn(*number) {
            self.write(CURVE, curve::svg(&checkpoint.epochs()).as_bytes())?;
        }
        if let Some(values) = best {
            self.write(PARAMETERS, &encode(&encoding.with_parameters(values)))?;
        }
        let (best, measured) = match &checkpoint.best {
            Some((best, epoch)) => (*best, epoch.result()),
            None => unreachable!("an epoch was added"),
        };
        let mut note = json!({ "epochs": checkpoint.n_epochs, "best": best, "measured": measured });
        let mut saved = encoding.with_parameters(state);
        if !encoding.is_empty() {
            note["encoding"] = encoding.to_json();
        }
        saved.note = note.to_string();
        self.write(CHECKPOINT, &encode(&saved))
    }

    /// Writes the picture of the answers of the best parameters.
    pub fn draw_answers(&self, svg: &str) -> Result<(), TrainingError> {
        self.write(ANSWERS, svg.as_bytes())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), TrainingError> {
        replace(&self.file(name), bytes).map_err(|error| self.not_written(name, &error))
    }

    fn append(&self, name: &str, bytes: &[u8]) -> Result<(), TrainingError> {
        let append = || -> io::Result<()> {
            let mut file: File = OpenOptions::new().append(true).create(true).open(self.file(name))?;
            file.write_all(bytes)?;
            file.sync_data()?;
            sync_folder(&self.path)
        };
        append().map_err(|error| self.not_written(name, &error))
    }

    fn not_written(&self, name: &str, error: &io::Error) -> TrainingError {
        let message = format!("cannot write the file: {}", reason(error));
        TrainingError::File(self.file(name).display().to_string(), message)
    }
}

/// The epochs of a run that is not going on here; `None` if the folder has no metrics.
pub fn epochs(folder: &Path) -> Option<Vec<(usize, Epoch)>> {
    let metrics = fs::read_to_string(folder.join(METRICS)).ok()?;
    Some(metrics.lines().filter_map(Epoch::from_line).collect())
}

/// The description of a run; `None` if it cannot be read.
pub fn description(folder: &Path) -> Option<serde_json::Value> {
    serde_json::from_str(&fs::read_to_string(folder.join(DESCRIPTION)).ok()?).ok()
}

/// Whether the picture is drawn after this epoch: after each of the first ones, later each time their number
/// has grown by a tenth. So the work per epoch is bounded on average, although a picture shows all epochs.
fn is_drawn(n_epochs: usize) -> bool {
    let tenth = n_epochs / 10;
    let power = tenth.checked_ilog2().map_or(1, |log| 1 << log);
    n_epochs.is_multiple_of(power)
}

/// Whether a folder contains only files of runs.
fn has_only_own_files(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else { return false };
    entries.all(|entry| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name == LOCK || FILES.contains(&name.as_str()) || is_temporary(&name)
        })
    })
}

fn is_temporary(name: &str) -> bool {
    FILES.iter().any(|file| name.starts_with(&format!(".{file}.eddy-")))
}

fn encode(saved: &Saved) -> Vec<u8> {
    saved.encode().expect("values of programs can be saved")
}

/// The encoding of the data of the run in a folder, if it can be read.
pub fn encoding(folder: &Path) -> Option<Encoding> {
    let saved = Saved::decode(&fs::read(folder.join(CHECKPOINT)).ok()?).ok()?;
    split(saved).ok().map(|(_, encoding)| encoding)
}

/// The state and the encoding of a checkpoint.
fn split(saved: Saved) -> Result<(PersistentState, Encoding), String> {
    let note: serde_json::Value = serde_json::from_str(&saved.note).unwrap_or_default();
    let note = note.get("encoding").map(ToString::to_string).unwrap_or_default();
    Encoding::split(Saved { values: saved.values, note })
}
