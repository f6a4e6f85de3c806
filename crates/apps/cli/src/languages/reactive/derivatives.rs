//! The commands about derivatives: `diff` and `gradcheck`, and the arguments of `train`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use eddy_driver::functions::gradcheck::FunctionGradcheck;
use eddy_driver::gradcheck::{Entry, GradientReport};
use eddy_driver::model::{AfterEnd, Cotangents};
use eddy_driver::train::BatchLoss;
use eddy_driver::{Answer, EngineKind, FunctionRequest, GradcheckRequest, NodeRequest};
use serde_json::{Value, json};

use super::functions::{Nesting, check_function};
use super::{
    DataArgs, Limits, Rendered, generated_cycles, named_constant, named_shape, open_all, reply, streams,
    threads,
};
use crate::args::Fuel;
use crate::session::Session;
use crate::status::Status;
use crate::stop::Stop;

#[derive(Args)]
pub struct DiffArgs {
    /// Differentiate this node; `M_end` is the node `M` with resets
    #[arg(long, value_name = "NAME")]
    node: String,
    /// Give an input of the node a compile-time constant
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = named_constant)]
    constants: Vec<(String, String)>,
    /// Give an input of the node a shape; others are scalars
    #[arg(long = "shape", value_name = "NAME=[SIZES]", value_parser = named_shape)]
    shapes: Vec<(String, String)>,
    /// Print cotangents at every cycle, not only where they can be different from zero
    #[arg(long)]
    dense: bool,
    /// Take cotangents from after the end of the trace as 0, not as unknown
    #[arg(long)]
    finite: bool,
    #[command(flatten)]
    limits: Limits,
}

#[derive(Args)]
pub struct GradcheckArgs {
    /// The node whose derivatives are checked
    #[arg(long, value_name = "NAME", required_unless_present = "function")]
    node: Option<String>,
    /// The function whose derivatives are checked
    #[arg(long = "fn", value_name = "NAME", conflicts_with = "node")]
    function: Option<String>,
    /// Check at these inputs: .jsonl, .csv or .npy; otherwise they are random. For a function: .jsonl, an
    /// object of arguments per line
    #[arg(long = "in", value_name = "[NAME=]FILE", value_hint = ValueHint::FilePath)]
    data: Vec<String>,
    /// Give an input of the node a compile-time constant
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = named_constant, conflicts_with = "function")]
    constants: Vec<(String, String)>,
    /// Give an input whose shape is not written a shape
    #[arg(long = "shape", value_name = "NAME=[SIZES]", value_parser = named_shape)]
    shapes: Vec<(String, String)>,
    /// Generate N cycles of random inputs
    #[arg(long, value_name = "N", conflicts_with_all = ["function", "data"], value_parser = generated_cycles)]
    cycles: Option<u64>,
    /// The seed of random inputs and of initial values
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The largest difference, relative to the larger of both and to 1
    #[arg(long, value_name = "X", value_parser = positive)]
    tolerance: Option<f64>,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    fuel: Fuel,
    #[command(flatten)]
    nesting: Nesting,
}

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line are independent")]
pub struct TrainArgs {
    /// The node to train; it need not be named if the file declares one only
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// The data to learn from: .jsonl, .csv, .tsv, .npy or .npz, `-` for standard input; NAME=FILE for one
    /// input
    #[arg(long = "in", value_name = "[NAME=]FILE", value_hint = ValueHint::FilePath, required_unless_present = "compare")]
    pub data: Vec<String>,
    #[command(flatten)]
    pub reading: DataArgs,
    /// The column of the target, in the form of `--columns` [default: `gt`]
    #[arg(long, value_name = "COLUMNS")]
    pub target: Option<String>,
    /// Learn nothing from rows with missing values; without it they are errors
    #[arg(long)]
    pub skip_missing: bool,
    /// Subtract the mean from these inputs, and divide them by their deviation; `run` and `build` do the
    /// same with the parameters
    #[arg(long, value_name = "INPUT", value_delimiter = ',')]
    pub normalize: Vec<String>,
    /// Read the data anew in each epoch, for data larger than memory; N samples or sequences are shuffled
    /// at a time
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "10000", value_parser = at_least_one)]
    pub stream: Option<usize>,
    /// Learn from this part of the data, and validate on the rest
    #[arg(long, value_name = "PART", value_parser = part, conflicts_with = "validate")]
    pub split: Option<f64>,
    /// Keep rows with the same value of a column in one part; COLUMN=VALUE validates on the rows with this
    /// value
    #[arg(long, value_name = "COLUMN[=VALUE]", conflicts_with = "validate")]
    pub split_by: Option<String>,
    /// Data to measure the loss on after each epoch
    #[arg(long, value_name = "[NAME=]FILE", value_hint = ValueHint::FilePath)]
    pub validate: Vec<String>,
    /// How many times to go through the data
    #[arg(long, value_name = "N", default_value = "10", value_parser = at_least_one)]
    pub epochs: usize,
    /// Stop after N epochs without improvement
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub patience: Option<usize>,
    /// Measure the answers after each epoch by this node: it takes an answer and the wanted value, and gives
    /// a number
    #[arg(long = "metric", value_name = "NODE", value_delimiter = ',')]
    pub metrics: Vec<String>,
    /// What the best epoch is, for `--patience` and the parameters: max:NAME or min:NAME of a metric, `loss`
    /// or `validation` [default: min of the validation loss, or of the loss]
    #[arg(long, value_name = "max|min:NAME", value_parser = crate::train::Goal::parse)]
    pub best: Option<crate::train::Goal>,
    /// Compare the answers of the best parameters with the wanted values: a matrix for classes, a picture for
    /// numbers
    #[arg(long)]
    pub answers: bool,
    /// Write the largest amount of memory so far with each epoch
    #[arg(long)]
    pub trace_memory: bool,
    /// Compare runs instead: a table of what differs, and how well they did
    #[arg(long, value_name = "RUN", num_args = 2.., value_hint = ValueHint::DirPath)]
    pub compare: Vec<PathBuf>,
    /// Draw the curves of the compared runs into this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "compare")]
    pub svg: Option<PathBuf>,
    /// The seed of initial values and of the order of samples
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Learn from N samples or sequences at once
    #[arg(long, value_name = "N", value_parser = streams)]
    pub batch: Option<usize>,
    /// Minimise the `mean` of the losses of a batch, which is the default, or their `sum`
    #[arg(long, value_name = "HOW", value_parser = batch_loss, default_value = "mean", hide_default_value = true, requires = "batch")]
    pub batch_loss: BatchLoss,
    /// Fill up shorter sequences of a batch, and batches with too few members; what is added does not count
    #[arg(long, requires = "batch")]
    pub pad: bool,
    /// Numbers have single precision, in computations and in files
    #[arg(long)]
    pub f32: bool,
    /// Let N threads compute large tensors; otherwise as many as the machine has
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Keep the order of the data
    #[arg(long)]
    pub no_shuffle: bool,
    /// A sequence ends every N rows, where the data have no column `end`
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub sequence: Option<usize>,
    /// The gradient is cut every N rows, where the data have no column `cut`
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub cut: Option<usize>,
    /// Give an input of the node a compile-time constant
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = named_constant)]
    pub constants: Vec<(String, String)>,
    /// Start from these parameters
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "resume")]
    pub params: Option<PathBuf>,
    /// The folder of the run; otherwise a new one in `runs`
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub run: Option<PathBuf>,
    /// Go on where the run in this folder ended
    #[arg(long, requires = "run")]
    pub resume: bool,
    /// How epochs are run: `compiled` to machine code, which is the default, or `simulate`
    #[arg(long, value_name = "NAME", value_parser = engines_that_train())]
    pub engine: Option<EngineKind>,
    /// Stop when more than N cycles are open at once
    #[arg(long, value_name = "N")]
    pub max_window: Option<usize>,
    /// Compute loops again from registers saved every √W cycles, rather than keep their values
    #[arg(long, value_name = "HOW", value_parser = ["sqrt"])]
    pub checkpoint: Option<String>,
    /// Do not compare the first rows of compiled code with the simulator
    #[arg(long)]
    pub no_shadow: bool,
    #[command(flatten)]
    pub limits: Limits,
}

pub fn diff(args: DiffArgs, session: &Session) -> Result<Status, Stop> {
    let DiffArgs { node, constants, shapes, dense, finite, limits } = args;
    let cotangents = if dense { Cotangents::Dense } else { Cotangents::Sparse };
    let after_end = if finite { AfterEnd::Zero } else { AfterEnd::Unknown };
    reply(session, limits.read(), |program| {
        let model = program.model(NodeRequest { node, constants, shapes, batch: None })?;
        let Answer { value: text, warnings } = model.diff(cotangents, after_end)?;
        let answer = json!({ "program": text });
        Ok(Rendered { text, answer, warnings, sources: model.sources().clone() })
    })
}

pub fn gradcheck(args: GradcheckArgs, session: &Session) -> Result<Status, Stop> {
    let GradcheckArgs { node, function, data, constants, shapes, cycles, seed, tolerance, limits, .. } = args;
    let Some(data) = open_all(&data, None, session.form) else { return Ok(Status::Refused) };
    let seed = seed.unwrap_or(0);
    if let Some(function) = function {
        let budget = args.nesting.budget(args.fuel.fuel, None);
        let request = FunctionRequest { budget, ..FunctionRequest::new(function) };
        let check = FunctionGradcheck { seed, tolerance, shapes };
        return check_function(session, limits.read(), request, &check, data);
    }
    let request = GradcheckRequest { cycles, seed, tolerance };
    reply(session, limits.read(), |program| {
        let node = node.unwrap_or_default();
        let model = program.model(NodeRequest { node, constants, shapes, batch: None })?;
        let Answer { value: report, warnings } = model.gradcheck(&request, data)?;
        let (text, answer) = (report.to_string(), as_data(&report));
        Ok(Rendered { text, answer, warnings, sources: model.sources().clone() })
    })
}

/// The report for scripts.
fn as_data(report: &GradientReport) -> Value {
    let entry = |entry: &Entry| {
        json!({
            "place": entry.place(),
            "cycle": entry.cycle,
            "adjoint": entry.adjoint,
            "difference": entry.difference,
            "error": entry.error(),
        })
    };
    let entries = |of: &[Entry]| of.iter().map(entry).collect::<Vec<Value>>();
    json!({
        "node": report.node,
        "tolerance": report.tolerance,
        "entries": report.n_entries,
        "cycles": report.n_cycles,
        "cells": report.n_cells,
        "unknown_cells": report.n_unknown,
        "compared": entries(&report.compared),
        "kinks": entries(&report.kinks),
        "unchecked": entries(&report.unchecked),
        "notes": report.notes,
    })
}

fn engines_that_train() -> impl TypedValueParser<Value = EngineKind> {
    let engines = [EngineKind::Compiled, EngineKind::Simulate];
    PossibleValuesParser::new(engines.map(EngineKind::name))
        .map(|name| name.parse().expect("only names of engines are possible"))
}

fn batch_loss(text: &str) -> Result<BatchLoss, String> {
    match text {
        "mean" => Ok(BatchLoss::Mean),
        "sum" => Ok(BatchLoss::Sum),
        _ => Err("it is `mean` or `sum`".to_string()),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it is at least 1".to_string()),
        Ok(n) => Ok(n),
        Err(_) => Err("it is a whole number".to_string()),
    }
}

fn part(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("it is a number between 0 and 1".to_string()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("it is a number larger than 0".to_string()),
    }
}
