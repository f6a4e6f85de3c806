//! The commands about derivatives: `diff`, `gradcheck` and `train`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use eddy_language::BatchLoss;

use super::{Program, Reporting, named_constant, named_shape, streams, threads};

#[derive(Args)]
pub struct DiffArgs {
    #[command(flatten)]
    pub program: Program,
    /// Differentiate this node; `M_end` is the node `M` with resets
    #[arg(long, value_name = "NAME")]
    pub node: String,
    /// Give an input of the node a compile-time constant
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = named_constant)]
    pub constants: Vec<(String, String)>,
    /// Give an input of the node a shape; others are scalars
    #[arg(long = "shape", value_name = "NAME=[SIZES]", value_parser = named_shape)]
    pub shapes: Vec<(String, String)>,
    /// Print cotangents at every cycle, not only where they can be different from zero
    #[arg(long)]
    pub dense: bool,
    /// Take cotangents from after the end of the trace as 0, not as unknown
    #[arg(long)]
    pub finite: bool,
    #[command(flatten)]
    pub reporting: Reporting,
}

#[derive(Args)]
pub struct GradcheckArgs {
    #[command(flatten)]
    pub program: Program,
    /// The node whose derivatives are checked
    #[arg(long, value_name = "NAME")]
    pub node: String,
    /// Check at these inputs: .jsonl, .csv or .npy; otherwise they are made up
    #[arg(long = "in", value_name = "[NAME=]FILE", value_hint = ValueHint::FilePath)]
    pub data: Vec<String>,
    /// Give an input of the node a compile-time constant
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = named_constant)]
    pub constants: Vec<(String, String)>,
    /// Give an input whose shape is not written a shape
    #[arg(long = "shape", value_name = "NAME=[SIZES]", value_parser = named_shape)]
    pub shapes: Vec<(String, String)>,
    /// Make up so many cycles
    #[arg(long, value_name = "N")]
    pub cycles: Option<u64>,
    /// The seed of what is made up, and of initial values
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How far both may be apart, relative to the larger one and to 1
    #[arg(long, value_name = "X", value_parser = positive)]
    pub tolerance: Option<f64>,
    #[command(flatten)]
    pub reporting: Reporting,
}

#[derive(Args)]
pub struct TrainArgs {
    #[command(flatten)]
    pub program: Program,
    /// The node to train; it need not be named if the file declares one only
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// The data to learn from: .jsonl, .csv or .npy, `-` for JSON lines on standard input; NAME=FILE for one input
    #[arg(long = "in", value_name = "[NAME=]FILE", value_hint = ValueHint::FilePath, required = true)]
    pub data: Vec<String>,
    /// Data to measure the loss on after each epoch
    #[arg(long, value_name = "[NAME=]FILE", value_hint = ValueHint::FilePath)]
    pub validate: Vec<String>,
    /// How many times to go through the data
    #[arg(long, value_name = "N", default_value = "10", value_parser = at_least_one)]
    pub epochs: usize,
    /// Stop when so many epochs brought nothing better
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub patience: Option<usize>,
    /// The seed of initial values and of the order of samples
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Learn from N samples or sequences at once
    #[arg(long, value_name = "N", value_parser = streams)]
    pub batch: Option<usize>,
    /// What is minimised of the losses of a batch: their `mean`, which is the default, or their `sum`
    #[arg(long, value_name = "HOW", value_parser = batch_loss, default_value = "mean", hide_default_value = true, requires = "batch")]
    pub batch_loss: BatchLoss,
    /// Let N threads compute large tensors; otherwise as many as the machine has
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Keep the order of the data
    #[arg(long)]
    pub no_shuffle: bool,
    /// A sequence ends every N rows, where the data do not say it in a column `end`
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub sequence: Option<usize>,
    /// The gradient is cut every N rows, where the data do not say it in a column `cut`
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
    #[arg(long, value_name = "NAME", value_parser = ["compiled", "simulate"])]
    pub engine: Option<String>,
    /// Stop when more than N cycles are open at once
    #[arg(long, value_name = "N")]
    pub max_window: Option<usize>,
    /// Run loops forwards again, from registers that are put aside every √W cycles, rather than keep what they compute
    #[arg(long, value_name = "HOW", value_parser = ["sqrt"])]
    pub checkpoint: Option<String>,
    /// Do not compare the first rows of compiled code with the simulator
    #[arg(long)]
    pub no_shadow: bool,
    #[command(flatten)]
    pub reporting: Reporting,
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

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("it is a number larger than 0".to_string()),
    }
}
