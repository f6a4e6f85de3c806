//! Training: what a language that learns offers, and what the command line asks of it.
//!
//! The command line owns time and files: how many epochs, when to stop, what to keep. The language owns the program and
//! its data.

use eddy_syntax::{Diagnostic, Sources};
use eddy_tensor::Value;

use crate::disagreement::Comparison;

/// How a node is trained.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// The node; without it, the one that the file declares.
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
    /// How many threads compute; without it, as many as the machine has.
    pub threads: Option<usize>,
    /// At most so many cycles may be open at once.
    pub max_window: Option<usize>,
    /// Loops run again rather than keep what they compute.
    pub checkpoints: bool,
    /// Which evaluator; one of the language's.
    pub engine: Option<String>,
    /// The first rows of compiled code are not compared with the simulator.
    pub no_shadow: bool,
    /// How many equations the program may have once its nodes are inlined.
    pub equations: Option<u64>,
}

/// What is minimised of the losses of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatchLoss {
    /// Their mean, which is also what is printed.
    #[default]
    Mean,
    /// Their sum.
    Sum,
}

/// What will be trained on what.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The node.
    pub node: String,
    /// The node whose parameters are learnt.
    pub model: String,
    /// How many parameters there are, and how many numbers in them.
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

/// A node that is being trained.
pub trait Trainer {
    /// What is trained on what.
    fn plan(&self) -> Plan;

    /// What the user should know about the program.
    fn warnings(&self) -> Vec<Diagnostic>;

    /// Compares compiled code with the simulator on the first rows that the epoch of this number will run; nothing is learnt from that. `n_epochs` are still to come, which says
    /// how much time may be spent.
    fn compare_engines(&mut self, _sources: &Sources, _epoch: u64, _n_epochs: usize) -> Comparison {
        Comparison::default()
    }

    /// Goes once through all data; `watch` is told about progress.
    fn epoch(&mut self, epoch: u64, watch: &mut dyn FnMut(Progress)) -> Result<Measured, Vec<Diagnostic>>;

    /// The loss on the data for validation, at the parameters as they are; none without such data.
    fn validate(&mut self) -> Result<Option<Measured>, Vec<Diagnostic>>;

    /// The parameters.
    fn parameters(&self) -> Vec<(String, Value)>;

    /// All that later epochs depend on.
    fn memory(&self) -> Vec<(String, Value)>;

    /// Goes on from what [`memory`](Self::memory) gave; or says what does not fit.
    fn restore(&mut self, memory: Vec<(String, Value)>) -> Result<(), String>;

    /// Starts from parameters of another run; or says what does not fit.
    fn start_from(&mut self, parameters: Vec<(String, Value)>) -> Result<(), String>;
}
