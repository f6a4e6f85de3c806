//! What the words after the node's name ask for.

use eddy_syntax::Span;

use crate::names::Names;
use crate::tree::{Run, RunOptionKind, Semantics};

/// What the command line asks of all test benches, whatever they say themselves.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Which semantics.
    pub semantics: Option<Semantics>,
    /// Print the iterates of the fixpoint.
    pub trace: bool,
    /// The seed of random initialisers.
    pub seed: Option<u64>,
    /// At most so many cycles may be open at once.
    pub max_window: Option<usize>,
    /// How wide a table may be.
    pub width: Option<usize>,
}

/// How a test bench is run.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "words of a test bench are independent")]
pub struct RunOptions {
    /// Which semantics.
    pub semantics: Semantics,
    /// Print a table.
    pub chrono: bool,
    /// Print the iterates of the fixpoint.
    pub trace: bool,
    /// Print the look-ahead that was used.
    pub stats: bool,
    /// `if` waits for both branches.
    pub strict: bool,
    /// Check neither clocks nor causality, and go on after synchronisation errors.
    pub unchecked: bool,
    /// How many cycles; otherwise as many as the longest row has.
    pub n_cycles: Option<usize>,
    /// The seed of random initialisers.
    pub seed: u64,
    /// At most so many cycles may be open at once.
    pub max_window: Option<usize>,
    /// How wide a table may be.
    pub width: Option<usize>,
    /// Which streams are printed, by name; all outputs if there is none.
    pub show: Vec<(String, Span)>,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            semantics: Semantics::Operational,
            chrono: false,
            trace: false,
            stats: false,
            strict: false,
            unchecked: false,
            n_cycles: None,
            seed: 0,
            max_window: None,
            width: None,
            show: Vec::new(),
        }
    }
}

impl RunOptions {
    /// The options of a test bench, as far as the command line does not ask for others.
    pub fn new(run: &Run, names: &Names, wishes: &Wishes) -> Self {
        let mut options = RunOptions::default();
        for option in &run.options {
            match &option.kind {
                RunOptionKind::Semantics(semantics) => options.semantics = *semantics,
                RunOptionKind::Chrono => options.chrono = true,
                RunOptionKind::Trace => options.trace = true,
                RunOptionKind::Stats => options.stats = true,
                RunOptionKind::Strict => options.strict = true,
                RunOptionKind::Unchecked => options.unchecked = true,
                RunOptionKind::For(n) => options.n_cycles = Some(usize::try_from(*n).unwrap_or(usize::MAX)),
                RunOptionKind::Seed(seed) => options.seed = *seed,
                RunOptionKind::Show(paths) => {
                    options.show.extend(paths.iter().map(|path| (path.text(names), path.span)));
                }
            }
        }
        options.semantics = wishes.semantics.unwrap_or(options.semantics);
        options.seed = wishes.seed.unwrap_or(options.seed);
        options.trace |= wishes.trace;
        (options.max_window, options.width) = (wishes.max_window, wishes.width);
        options
    }
}
