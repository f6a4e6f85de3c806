//! What is trained on what, and what came of it: plain data.

pub use eddy_language::elaborate::BatchLoss;
use eddy_syntax::Diagnostic;

use crate::disagreement::Disagreement;
use crate::engine::EngineKind;

/// How a node is trained.
#[derive(Clone, Debug, Default)]
pub struct TrainRequest {
    /// The node; none: the one that the file declares.
    pub node: Option<String>,
    /// Compile-time constants for its inputs: name and expression.
    pub constants: Vec<(String, String)>,
    /// The seed of initial values and of the order of samples.
    pub seed: u64,
    /// Whether samples or sequences come in another order in each epoch.
    pub shuffle: bool,
    /// Every so many rows a sequence ends, if the data do not say where.
    pub sequence: Option<usize>,
    /// Every so many rows the gradient is cut, if the data do not say where.
    pub cut: Option<usize>,
    /// How many samples or sequences are learnt from at once.
    pub batch: Option<usize>,
    /// What is minimised of the losses of a batch.
    pub batch_loss: BatchLoss,
    /// At most so many cycles may be open at once.
    pub max_window: Option<usize>,
    /// Loops run again rather than keep what they compute.
    pub checkpoints: bool,
    /// Which engine: `Compiled` or `Simulate`; none: machine code where possible.
    pub engine: Option<EngineKind>,
}

/// What will be trained on what.
#[derive(Clone, Debug)]
pub struct TrainPlan {
    /// The node.
    pub node: String,
    /// The node whose parameters are learnt.
    pub model: String,
    /// How many parameters there are.
    pub n_parameters: usize,
    /// How many numbers the parameters have in all.
    pub n_numbers: usize,
    /// How many rows of data.
    pub n_rows: usize,
    /// How many sequences they make; none if they are samples of their own.
    pub n_sequences: Option<usize>,
    /// Whether the order changes.
    pub is_shuffled: bool,
    /// A hash of all cells of the data.
    pub data_hash: String,
    /// The same of the data for validation.
    pub validation_hash: Option<String>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// What came of one pass over some data.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The mean of the losses that are known.
    pub loss: f64,
    /// How many rows have a loss.
    pub n_rows: usize,
    /// For how many of them it is not known.
    pub n_unknown: usize,
    /// Why it is not known for these.
    pub why_unknown: Option<String>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// How far an epoch is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The rows that were given.
    pub n_rows: usize,
    /// The mean loss so far; none before the first.
    pub loss: Option<f64>,
}

/// How an epoch ended.
#[derive(Clone, Debug)]
pub enum Epoch {
    /// All rows were learnt from.
    Done(Measured),
    /// Whoever watched stopped it. Nothing was learnt: the trainer is where it was before the epoch, and goes
    /// on from there bit for bit.
    Cancelled,
}

/// What a trainer found out about its compiled code.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Where it is wrong; the trainer then uses the simulator.
    pub disagreements: Vec<Disagreement>,
    /// What the user should know.
    pub notes: Vec<String>,
}
