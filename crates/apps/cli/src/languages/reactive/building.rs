//! The arguments of `build`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint, value_parser};

use super::{Limits, named_constant, named_shape, streams};

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line are independent")]
pub struct BuildArgs {
    /// What to write
    #[arg(long, value_name = "LANGUAGE", default_value = "c")]
    pub emit: Target,
    /// Write this node
    #[arg(long, value_name = "NAME", required_unless_present = "function")]
    pub node: Option<String>,
    /// Write this function, at its written types; it may be a derivative, such as `adj_f`
    #[arg(long = "fn", value_name = "NAME", conflicts_with_all = OF_NODES)]
    pub function: Option<String>,
    /// The folder to write to; otherwise one in this folder with the name of the node
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Write no files: only say how large the program would be
    #[arg(long, conflicts_with = "out")]
    pub dry_run: bool,
    /// Numbers are `float`
    #[arg(long, conflicts_with = "f64")]
    pub f32: bool,
    /// Numbers are `double`, which is the default
    #[arg(long)]
    pub f64: bool,
    /// Give an input of the node a compile-time constant
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = named_constant)]
    pub constants: Vec<(String, String)>,
    /// Give an input whose shape is not written a shape
    #[arg(long = "shape", value_name = "NAME=[SIZES]", value_parser = named_shape)]
    pub shapes: Vec<(String, String)>,
    /// Parameters have these values
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub params: Option<PathBuf>,
    /// Run N independent streams in lock-step: what differs from stream to stream has a last axis of size N
    #[arg(long, value_name = "N", value_parser = streams)]
    pub batch: Option<usize>,
    /// The seed of random initial values
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// There is room for windows of at most N cycles [default: 64]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=1 << 20))]
    pub max_window: Option<u64>,
    /// Functions that loop or recurse may use N bytes at once, which are part of the state [default: 1048576]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1 << 12..=1 << 32))]
    pub arena: Option<u64>,
    /// Keep what takes long to compute again, `exp` and its like: it is faster and takes more memory
    #[arg(long)]
    pub keep: bool,
    /// Compute loops again from registers saved every √W cycles, rather than keep their values
    #[arg(long, value_name = "HOW", value_parser = ["sqrt"])]
    pub checkpoint: Option<String>,
    /// Keep K states of each loop of the function for its adjoint, which runs the iterations between them
    /// again [default: all states]
    #[arg(long, value_name = "K", value_parser = value_parser!(u64).range(1..), requires = "function")]
    pub keep_states: Option<u64>,
    #[command(flatten)]
    pub limits: Limits,
}

/// Arguments that a function does not have.
const OF_NODES: [&str; 11] = [
    "node",
    "f32",
    "constants",
    "shapes",
    "params",
    "batch",
    "seed",
    "max_window",
    "arena",
    "keep",
    "checkpoint",
];

/// The target languages of `build`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Target {
    /// C99, without a library
    C,
}
