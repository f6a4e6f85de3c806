//! The command `plan`.

use std::path::PathBuf;

use clap::{Args, ValueHint, value_parser};

use super::{Program, Reporting, named_constant, named_shape, streams};

#[derive(Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub program: Program,
    /// Print the whole plan of this node; otherwise a line for each node of the file
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// Give an input of the node a compile-time constant
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = named_constant, requires = "node")]
    pub constants: Vec<(String, String)>,
    /// Give an input whose shape is not written a shape
    #[arg(long = "shape", value_name = "NAME=[SIZES]", value_parser = named_shape, requires = "node")]
    pub shapes: Vec<(String, String)>,
    /// Plan for N independent streams in lock-step
    #[arg(long, value_name = "N", value_parser = streams)]
    pub batch: Option<usize>,
    /// The seed of random initial values
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Say how much memory windows of at most N cycles take
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..), requires = "node")]
    pub max_window: Option<u64>,
    /// Run loops forwards again, from registers that are put aside every √W cycles, rather than keep what they compute
    #[arg(long, value_name = "HOW", value_parser = ["sqrt"])]
    pub checkpoint: Option<String>,
    /// Plan for data without an end, so that memory must not grow with them
    #[arg(long)]
    pub stream: bool,
    /// Keep what takes long to compute again, `exp` and its like: it is faster and takes more memory; `run` and `train` do so
    #[arg(long)]
    pub keep: bool,
    /// Draw the plan into this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "node", conflicts_with = "json")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub reporting: Reporting,
}
