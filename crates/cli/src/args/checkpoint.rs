//! The option `--checkpoint`, which several commands have.

use clap::ValueEnum;

/// How loops backwards find what loops forwards computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Checkpointing {
    /// Registers are put aside every √W cycles of a window of W cycles
    Sqrt,
}
