//! Requests and results of training: plain data.

use eddy_compile::Precision;
use eddy_formats::Encoding;
pub use eddy_language::elaborate::BatchLoss;
use eddy_syntax::Diagnostic;

use super::split::Split;
use crate::disagreement::Disagreement;
use crate::engine::EngineKind;

/// How a node is trained.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "options are independent")]
pub struct TrainRequest {
    /// The node; `None` means the one that the file declares.
    pub node: Option<String>,
    /// Compile-time constants for its inputs: name and expression.
    pub constants: Vec<(String, String)>,
    /// The seed of initial values and of the order of samples.
    pub seed: u64,
    /// Whether samples or sequences come in another order in each epoch.
    pub shuffle: bool,
    /// The length of sequences, if the data do not mark their ends.
    pub sequence: Option<usize>,
    /// The number of rows after which the gradient is cut, if the data do not mark cuts.
    pub cut: Option<usize>,
    /// The number of samples or sequences that are learnt from at once.
    pub batch: Option<usize>,
    /// The function of the losses of a batch that is minimised.
    pub batch_loss: BatchLoss,
    /// The largest number of cycles that may be open at once.
    pub max_window: Option<usize>,
    /// Recompute the values of loops instead of keeping them.
    pub checkpoints: bool,
    /// How data become inputs. Tables of categories that are open are completed by the data.
    pub encoding: Encoding,
    /// Inputs to normalise by their means and deviations in the data, in addition to those of the encoding.
    pub normalise: Vec<String>,
    /// How the data are divided into those to learn from and those for validation.
    pub split: Option<Split>,
    /// Read the data anew in each epoch; samples or sequences are shuffled in a buffer of this number.
    pub stream: Option<usize>,
    /// Pad sequences of a batch to the length of the longest, and masks the padding.
    pub pad: bool,
    /// The precision of numbers; `None` means double.
    pub precision: Option<Precision>,
    /// Nodes that judge answers: each takes an answer and the wanted value, and gives a number.
    pub metrics: Vec<String>,
    /// Whether answers will be asked for.
    pub keeps_answers: bool,
    /// The engine: `Compiled` or `Simulate`; `None` means machine code where possible.
    pub engine: Option<EngineKind>,
}

/// The node and the data of a training.
#[derive(Clone, Debug)]
pub struct TrainPlan {
    /// The node.
    pub node: String,
    /// The node whose parameters are learnt.
    pub model: String,
    /// The number of parameters.
    pub n_parameters: usize,
    /// The number of elements of all parameters.
    pub n_numbers: usize,
    /// The number of rows of data.
    pub n_rows: usize,
    /// The number of sequences; `None` if each row is a sample.
    pub n_sequences: Option<usize>,
    /// The name of the input with the targets.
    pub target: Option<String>,
    /// Whether the order changes from epoch to epoch.
    pub is_shuffled: bool,
    /// A hash of all cells of the data.
    pub data_hash: String,
    /// A hash of all cells of the validation data.
    pub validation_hash: Option<String>,
    /// How data become inputs: what the request says, and what was learnt from the data.
    pub encoding: Encoding,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// The result of one pass over some data.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The mean of the known losses.
    pub loss: f64,
    /// The number of rows with a loss.
    pub n_rows: usize,
    /// The number of rows whose loss is unknown.
    pub n_unknown: usize,
    /// Why these losses are unknown.
    pub why_unknown: Option<String>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// The progress of an epoch.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The number of rows so far.
    pub n_rows: usize,
    /// The mean loss so far; `None` before the first.
    pub loss: Option<f64>,
}

/// How an epoch ended.
#[derive(Clone, Debug)]
pub enum Epoch {
    /// All rows were learnt from.
    Done(Measured),
    /// `watch` stopped it. Nothing was learnt: the trainer has the state from before the epoch, and continues
    /// from there bit for bit.
    Cancelled,
}

/// The result of the shadow check.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The differences; after one, the trainer uses the simulator.
    pub disagreements: Vec<Disagreement>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}
