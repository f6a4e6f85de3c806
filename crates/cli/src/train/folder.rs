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
//! The checkpoint is written last, and says how many epochs it has seen. So a run that is killed at any moment goes on from the last
//! epoch that was complete, and the lines of metrics beyond it are written again.

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
        let best = self.best.and_then(|best| self.epochs[best - 1].score());
        let is_best = match (epoch.score(), best) {
            (Some(score), Some(best)) => score < best,
            _ => true,
        };
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
        Ok(folder)
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
        let count = |key: &str| {
            note.get(key).and_then(serde_json::Value::as_u64).and_then(|n| usize::try_from(n).ok())
        };
        let n_epochs = count("epochs").ok_or_else(|| failed("does not say how far it is".to_string()))?;
        let metrics = fs::read_to_string(self.file(METRICS)).unwrap_or_default();
        let mut epochs: Vec<Epoch> = metrics.lines().filter_map(Epoch::parse).take(n_epochs).collect();
        // Lines that were lost are replaced: only what the checkpoint has seen counts.
        epochs.resize(n_epochs, Epoch { loss: None, validation: None, seconds: 0.0 });
        Ok(Some((Checkpoint { epochs, best: count("best") }, saved.values)))
    }

    /// What is not as it was when the run began: a run that is resumed then goes on otherwise than it would have.
    pub fn changes(&self, args: &TrainArgs, source: &str) -> Vec<&'static str> {
        let before = fs::read_to_string(self.file("run.json")).ok();
        let Some(before) = before.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
        else {
            return Vec::new();
        };
        let now = [
            ("source_hash", json!(blake3::hash(source.as_bytes()).to_hex().to_string()), "the program"),
            ("seed", json!(args.seed), "the seed"),
            ("data", json!(args.data), "the data"),
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
            "seed": args.seed,
            "shuffled": plan.is_shuffled,
            "constants": args.constants.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>(),
        });
        let text = serde_json::to_string_pretty(&description).expect("it has no maps with odd keys") + "\n";
        self.write("run.json", text.as_bytes())
    }

    /// Keeps an epoch: metrics, picture, parameters if they are the best, and last the checkpoint.
    pub fn save(&self, checkpoint: &Checkpoint, memory: Memory, best: Option<Memory>) -> Result<(), Failure> {
        let lines = checkpoint.epochs.iter().enumerate().map(|(index, epoch)| epoch.line(index + 1));
        self.write(METRICS, lines.collect::<String>().as_bytes())?;
        self.write("loss.svg", curve::svg(&checkpoint.epochs).as_bytes())?;
        if let Some(values) = best {
            self.write(PARAMETERS, &encode(values, String::new()))?;
        }
        let note = json!({ "epochs": checkpoint.epochs.len(), "best": checkpoint.best }).to_string();
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
