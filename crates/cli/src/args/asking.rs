//! The arguments of the command that asks about the meaning of a program.

use clap::{Args, value_parser};

use super::{Program, Reporting};

#[derive(Args)]
pub struct AskArgs {
    #[command(flatten)]
    pub program: Program,
    /// The point of the meaning, such as `3`, `01:3` for a leaf, or `[0, 0] -> 1` for a function
    #[arg(long, value_name = "POINT")]
    pub point: String,
    /// Stop after this many steps of the search
    #[arg(long, value_name = "N")]
    pub fuel: Option<u64>,
    /// Stop when the search takes more than this many mebibytes
    #[arg(long, value_name = "MIB", value_parser = value_parser!(u64).range(..=u64::MAX >> 20))]
    pub memory: Option<u64>,
    /// Where the number of uses of an argument must be guessed, try up to this many
    #[arg(long, value_name = "N")]
    pub copies: Option<u32>,
    /// Unfold each recursion at most this often
    #[arg(long, value_name = "N")]
    pub unfold: Option<u32>,
    #[command(flatten)]
    pub reporting: Reporting,
    /// Print counters on standard error
    #[arg(long)]
    pub stats: bool,
}
