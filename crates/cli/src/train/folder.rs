//! The run folder: everything about a run, in files that are each written in one step.
//!
//! ```text
//! run.json                 what was run: program, node, options, seed, hash of the source
//! metrics.jsonl            a line for each epoch
//! loss.svg                 the losses, drawn
//! parameters.safetensors   the best parameters so far, for `eddy run --params`
//! checkpoint.safetensors   all that the next epoch depends on, for `--resume`
//! ```
//!
//! The checkpoint is written last, and knows the epochs that it has seen. So a run that is killed at any moment goes on from the last
//! epoch that was complete, and all other files are written again from there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use eddy_language::Plan;
use eddy_runtime::Saved;
use eddy_tensor::Value;
use serde_json::json;

use super::Failure;
use super::curve;
use super::metrics::Epoch;
use crate::args::TrainArgs;
use crate::replacement::replace;
use crate::stop::reason;

const CHECKPOINT: &str = "checkpoint.safetensors";
const PARAMETERS: &str = "parameters.safetensors";
const METRICS: &str = "metrics.jsonl";
const CURVE: &str = "loss.svg";
const DESCRIPTION: &str = "run.json";
const FILES: [&str; 5] = [DESCRIPTION, METRICS, CURVE, PARAMETERS, CHECKPOINT];

/// A run folder.
pub struct Folder {
    path: PathBuf,
    is_resumed: bool,
}

/// All that the next epoch depends on, by name.
type Memory = Vec<(String, Value)>;

/// How far a run is.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    /// The epochs so far.
    pub epochs: Vec<Epoch>,
    /// The number of the best one, from 1.
    pub best: Option<usize>,
}

impl Checkpoint {
    /// Adds an epoch; says whether it is the best so far.
    pub fn add(&mut self, epoch: Epoch) -> bool {
        let is_best = self.best.is_none_or(|best| epoch.score() < self.epochs[best - 1].score());
        self.epochs.push(epoch);
        if is_best {
            self.best = Some(self.epochs.len());
        }
        is_best
    }

    /// Whether so many epochs brought nothing better.
    pub fn is_stuck(&self, patience: usize) -> bool {
        self.best.is_some_and(|best| self.epochs.len() - best >= patience)
    }
}

impl Folder {
    /// The folder of a new run, or of one that goes on.
    pub fn open(place: &Path, is_resumed: bool) -> Result<Folder, Failure> {
        if place.exists() && !place.is_dir() {
            let message = "is a file; a run needs a folder".to_string();
            return Err(Failure::File(place.display().to_string(), message));
        }
        let path = if is_resumed { place.to_path_buf() } else { unused(place) };
        let folder = Folder { path, is_resumed };
        if is_resumed && !folder.path.join(CHECKPOINT).exists() {
            let message = "there is no checkpoint to resume from".to_string();
            return Err(Failure::File(folder.path.display().to_string(), message));
        }
        fs::create_dir_all(&folder.path).map_err(|error| {
            let message = format!("cannot make the folder: {}", reason(&error));
            Failure::File(folder.path.display().to_string(), message)
        })?;
        folder.sweep();
        Ok(folder)
    }

    /// Removes what a run that was killed had begun to write.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let is_ours =
                |name: &&str| entry.file_name().to_string_lossy().starts_with(&format!(".{name}.eddy-"));
            if FILES.iter().any(is_ours) {
                // What cannot be removed is in nobody's way.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a file of the folder is.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The best parameters.
    pub fn parameters(&self) -> PathBuf {
        self.file(PARAMETERS)
    }

    /// What messages call the checkpoint.
    pub fn checkpoint_name(&self) -> String {
        self.file(CHECKPOINT).display().to_string()
    }

    /// Where the run was when it ended, and its memory; none for a new run.
    pub fn checkpoint(&self) -> Result<Option<(Checkpoint, Memory)>, Failure> {
        if !self.is_resumed {
            return Ok(None);
        }
        let failed = |message: String| Failure::File(self.checkpoint_name(), message);
        let bytes = fs::read(self.file(CHECKPOINT))
            .map_err(|error| failed(format!("cannot read the file: {}", reason(&error))))?;
        let saved = Saved::decode(&bytes).map_err(|error| failed(format!("is no checkpoint: {error}")))?;
        let note: serde_json::Value =
            serde_json::from_str(&saved.note).map_err(|_| failed("is no checkpoint of a run".to_string()))?;
        let damaged = || failed("does not say what the run has done so far".to_string());
        let epochs = note.get("epochs").and_then(serde_json::Value::as_array).ok_or_else(damaged)?;
        let metrics = fs::read_to_string(self.file(METRICS)).unwrap_or_default();
        // How long epochs took is told, no more: nothing is lost with it.
        let seconds = metrics.lines().map(|line| Epoch::seconds_of(line).unwrap_or(0.0));
        let epochs = epochs.iter().zip(seconds.chain(std::iter::repeat(0.0)));
        let epochs: Option<Vec<Epoch>> =
            epochs.map(|(result, seconds)| Epoch::from_result(result, seconds)).collect();
        let epochs = epochs.ok_or_else(damaged)?;
        let best = note.get("best").and_then(serde_json::Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let best = best.filter(|best| (1..=epochs.len()).contains(best)).ok_or_else(damaged)?;
        Ok(Some((Checkpoint { epochs, best: Some(best) }, saved.values)))
    }

    /// What is not as it was when the run began: a run that is resumed then goes on otherwise than it would have.
    pub fn changes(&self, args: &TrainArgs, source: &str) -> Vec<&'static str> {
        let before = fs::read_to_string(self.file(DESCRIPTION)).ok();
        let Some(before) = before.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
        else {
            return Vec::new();
        };
        let now = [
            ("source_hash", json!(blake3::hash(source.as_bytes()).to_hex().to_string()), "the program"),
            ("seed", json!(args.seed), "the seed"),
            ("data", json!(args.data), "the data"),
            ("batch", json!(args.batch), "the batch"),
        ];
        let is_changed = |key: &str, now: &serde_json::Value| before.get(key).is_some_and(|then| then != now);
        now.iter().filter(|(key, now, _)| is_changed(key, now)).map(|(_, _, what)| *what).collect()
    }

    /// Writes what was run.
    pub fn describe(&self, args: &TrainArgs, plan: &Plan, source: &str) -> Result<(), Failure> {
        let description = json!({
            "eddy": env!("CARGO_PKG_VERSION"),
            "program": args.program.file.display().to_string(),
            "source_hash": blake3::hash(source.as_bytes()).to_hex().to_string(),
            "node": plan.node,
            "parameters": plan.n_parameters,
            "numbers": plan.n_numbers,
            "rows": plan.n_rows,
            "sequences": plan.n_sequences,
            "data": args.data,
            "validation": args.validate,
            "epochs": args.epochs,
            "batch": args.batch,
            "seed": args.seed,
            "shuffled": plan.is_shuffled,
            "constants": args.constants.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>(),
        });
        let text = serde_json::to_string_pretty(&description).expect("it has no maps with odd keys") + "\n";
        self.write(DESCRIPTION, text.as_bytes())
    }

    /// Keeps an epoch: metrics, picture, parameters if they are the best, and last the checkpoint.
    pub fn save(&self, checkpoint: &Checkpoint, memory: Memory, best: Option<Memory>) -> Result<(), Failure> {
        let lines = checkpoint.epochs.iter().enumerate().map(|(index, epoch)| epoch.line(index + 1));
        self.write(METRICS, lines.collect::<String>().as_bytes())?;
        self.write(CURVE, curve::svg(&checkpoint.epochs).as_bytes())?;
        if let Some(values) = best {
            self.write(PARAMETERS, &encode(values, String::new()))?;
        }
        let epochs: Vec<_> = checkpoint.epochs.iter().map(Epoch::result).collect();
        let note = json!({ "epochs": epochs, "best": checkpoint.best }).to_string();
        self.write(CHECKPOINT, &encode(memory, note))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let path = self.file(name);
        let failed = |error: io::Error| {
            let message = format!("cannot write the file: {}", reason(&error));
            Failure::File(path.display().to_string(), message)
        };
        replace(&path, bytes).map_err(failed)
    }
}

fn encode(values: Vec<(String, Value)>, note: String) -> Vec<u8> {
    Saved { values, note }.encode().expect("values of programs can be saved")
}

/// The first of `place`, `place-2`, `place-3` and so on that is not there.
fn unused(place: &Path) -> PathBuf {
    let numbered = (2..).map(|number| PathBuf::from(format!("{}-{number}", place.display())));
    let mut all = std::iter::once(place.to_path_buf()).chain(numbered);
    all.find(|path| !path.exists()).expect("there are more numbers than folders")
}
