//! The shadow check of training: before the first epoch of a process, both engines run its first rows, and
//! those of validation.
//!
//! This learns nothing: afterwards, the epoch starts from the same state, compiled if the engines agree, and
//! simulated if not. So each epoch is either compiled or simulated as a whole.

use eddy_batch::Batch;
use eddy_compile::Precision;
use eddy_flow::{Flow, VarId};
use eddy_language::elaborate::BatchLoss;
use eddy_language::semantics::Cell;
use eddy_tensor::Value;

use super::{Trainer, given, source};
use crate::disagreement::{Disagreement, Subject, json_lines, parameters, report, stream_of, words};
use crate::engine::{Compilation, Difference, Engine, EngineInput};
use crate::parameters as flow_parameters;
use crate::train::{Comparison, TrainRequest, batches};

/// The files in the folder.
const DATA: &str = "data.jsonl";
const VALIDATION: &str = "validation.jsonl";
const START: &str = "start.safetensors";

/// The number of training rows in the reproduction of a difference in validation.
const TRAINING_ROWS: usize = 100;

/// The results of both engines on the first rows.
enum Outcome {
    Agree,
    NotCompared,
    Differ(Box<Difference>),
}

/// The common initial state of both engines.
struct Trial<'a> {
    source: EngineInput<'a>,
    compilation: &'a Compilation,
    restored: Vec<(VarId, Value)>,
    /// The number of rows of all epochs.
    expected_rows: u64,
}

impl Trial<'_> {
    fn run<'r>(self, rows: impl Iterator<Item = std::borrow::Cow<'r, [Cell]>>) -> Outcome {
        let mut engine = Engine::shadowed(self.source, self.compilation, Some(self.expected_rows));
        if !self.restored.is_empty() {
            engine.restore(self.restored);
        }
        for (parameter, value) in given(self.source.flow) {
            engine.give(parameter, value);
        }
        let mut has_failed = false;
        for row in rows {
            has_failed = engine.open(&row).is_err();
            while engine.next_row().is_some() {}
            if has_failed || !engine.is_shadowed() {
                break;
            }
        }
        if !has_failed && engine.is_shadowed() {
            // The epoch will have the same failure and report it.
            let _ = engine.end();
        }
        match engine.take_difference() {
            Some(difference) => Outcome::Differ(difference),
            None if engine.take_not_compared() => Outcome::NotCompared,
            None => Outcome::Agree,
        }
    }
}

impl Trainer {
    /// Compares the engines on the first rows of an epoch; if the code is wrong, the simulator replaces it.
    pub(super) fn compare(&mut self, epoch: u64, n_epochs: usize) -> Comparison {
        let mut comparison = Comparison::default();
        let outcomes = [
            ("", self.compare_epoch(epoch, n_epochs)),
            ("validation of ", self.compare_validation(n_epochs)),
        ];
        for (number, (what, outcome)) in outcomes.into_iter().enumerate() {
            match outcome {
                Outcome::Agree => {}
                Outcome::NotCompared => comparison.notes.push(format!(
                    "{what}`{}` runs compiled and is not compared with the simulator, which would take too long",
                    self.name
                )),
                Outcome::Differ(difference) => {
                    let disagreement = self.disagreement(&difference, number == 1, epoch);
                    comparison.disagreements.extend(disagreement);
                    match &mut self.validation {
                        Some(validation) if number == 1 => validation.compilation = None,
                        _ => self.compilation = None,
                    }
                }
            }
        }
        comparison
    }

    fn compare_epoch(&self, epoch: u64, n_epochs: usize) -> Outcome {
        let Some(compilation) = &self.compilation else { return Outcome::Agree };
        let order = self.order(epoch);
        let n_streams = self.prepared.batch.as_ref().map_or(1, |batch| batch.n);
        let trial = Trial {
            source: self.source(),
            compilation,
            restored: self.registers.remembered(),
            expected_rows: (self.data.n_rows() / n_streams * n_epochs) as u64,
        };
        trial.run(batches::cells(&self.data, order, &self.prepared, self.padding.as_ref()))
    }

    fn compare_validation(&self, n_epochs: usize) -> Outcome {
        let Some(validation) = &self.validation else { return Outcome::Agree };
        let Some(compilation) = &validation.compilation else { return Outcome::Agree };
        let mut flow = validation.prepared.flow.clone();
        // Parameters that do not fit are reported when the epoch is validated.
        if flow_parameters::give(&mut flow, &self.parameters(), "training", self.span).is_err() {
            return Outcome::Agree;
        }
        let source =
            EngineInput { flow: &flow, ..source(&validation.prepared, &validation.loss, self.options) };
        let expected_rows = (validation.data.n_rows() * n_epochs) as u64;
        let trial = Trial { source, compilation, restored: Vec::new(), expected_rows };
        trial.run(validation.data.rows(&validation.prepared).map_while(Result::ok))
    }

    fn disagreement(&self, difference: &Difference, is_validation: bool, epoch: u64) -> Option<Disagreement> {
        let mut command = self.words.clone();
        let mut files = Vec::new();
        let compilation = match &self.validation {
            Some(validation) if is_validation => {
                let rows = json_lines(&validation.prepared.flow, &difference.inputs);
                files.push((VALIDATION.to_string(), rows));
                command.extend(["--validate".to_string(), VALIDATION.to_string()]);
                validation.compilation.as_ref()
            }
            _ => self.compilation.as_ref(),
        };
        let (flow, batch) = (&self.prepared.flow, self.prepared.batch.as_ref());
        let order = self.order(epoch);
        let first_rows = || {
            let rows = batches::cells(&self.data, order, &self.prepared, self.padding.as_ref());
            let rows = rows.take(TRAINING_ROWS);
            rows.map(std::borrow::Cow::into_owned).collect()
        };
        let rows: Vec<Vec<Cell>> = if is_validation { first_rows() } else { difference.inputs.clone() };
        let rows = batch.map_or(rows.clone(), |batch| units(flow, batch, &rows, self.end));
        files.push((DATA.to_string(), json_lines(flow, &rows)));
        if !self.registers.remembered().is_empty() {
            files.push((START.to_string(), parameters(&self.parameters())));
            command.extend(["--params".to_string(), START.to_string()]);
        }
        let subject =
            Subject { sources: &self.sources, node: &self.name, span: self.span, compilation: compilation? };
        Some(report(&subject, difference, command, files))
    }
}

/// The rows of a batch in the order of a file: sequence by sequence, or sample by sample.
fn units(flow: &Flow, batch: &Batch, rows: &[Vec<Cell>], end: Option<usize>) -> Vec<Vec<Cell>> {
    let ends = |row: &Vec<Cell>| end.is_none_or(|end| row[end].truth() == Some(true));
    let mut units = Vec::new();
    for unit in rows.split_inclusive(ends) {
        for stream in 0..batch.n {
            units.extend(unit.iter().map(|row| stream_of(flow, batch, row, stream)));
            if let (Some(end), Some(last)) = (end, units.last_mut()) {
                last[end] = Cell::Value(Value::Bool(true));
            }
        }
    }
    units
}

/// The command that trains the same node for one epoch on [`DATA`].
pub(super) fn command(node: &str, options: &TrainRequest, n_threads: Option<usize>) -> Vec<String> {
    let mut command = vec!["train".to_string(), "--no-shuffle".to_string()];
    let count = |n: Option<usize>| n.map(|n| n.to_string());
    command.extend(words([
        ("--node", Some(node.to_string())),
        ("--in", Some(DATA.to_string())),
        ("--epochs", Some("1".to_string())),
        ("--seed", Some(options.seed.to_string())),
        ("--batch", count(options.batch)),
        ("--batch-loss", (options.batch_loss == BatchLoss::Sum).then(|| "sum".to_string())),
        ("--threads", count(n_threads)),
        ("--max-window", count(options.max_window)),
        ("--checkpoint", options.checkpoints.then(|| "sqrt".to_string())),
    ]));
    let flags = [(options.precision == Some(Precision::Single), "--f32"), (options.pad, "--pad")];
    command.extend(flags.into_iter().filter(|(is_on, _)| *is_on).map(|(_, flag)| flag.to_string()));
    for (name, value) in &options.constants {
        command.extend(["--const".to_string(), format!("{name}={value}")]);
    }
    command
}
