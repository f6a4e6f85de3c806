//! The options of a test bench.

use eddy_syntax::Span;

use crate::names::Names;
use crate::tree::{Run, RunOptionKind, Semantics};

/// Options from the command line, which override those of all test benches.
#[derive(Clone, Debug, Default)]
pub struct RunOverrides {
    pub semantics: Option<Semantics>,
    /// Print the iterates of the fixpoint.
    pub trace: bool,
    pub seed: Option<u64>,
    /// The largest number of cycles that may be open at once.
    pub max_window: Option<usize>,
    /// The largest width of a table, in columns.
    pub width: Option<usize>,
}

#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "the options of a test bench are independent")]
pub struct RunOptions {
    pub semantics: Semantics,
    /// Print a table.
    pub chrono: bool,
    /// Print the iterates of the fixpoint.
    pub trace: bool,
    /// Print the look-ahead that was used.
    pub stats: bool,
    /// `if` waits for both branches.
    pub strict: bool,
    /// Check neither clocks nor causality, and continue after synchronisation errors.
    pub unchecked: bool,
    /// Print the probed streams behind the others.
    pub probe: bool,
    /// The number of cycles; by default the length of the longest row.
    pub n_cycles: Option<usize>,
    pub seed: u64,
    /// The largest number of cycles that may be open at once.
    pub max_window: Option<usize>,
    /// The largest width of a table, in columns.
    pub width: Option<usize>,
    /// The streams to print, by name; if empty, all outputs.
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
            probe: false,
            n_cycles: None,
            seed: 0,
            max_window: None,
            width: None,
            show: Vec::new(),
        }
    }
}

impl RunOptions {
    /// The options of a test bench, overridden by those of the command line.
    pub fn new(run: &Run, names: &Names, overrides: &RunOverrides) -> Self {
        let mut options = RunOptions::default();
        for option in &run.options {
            match &option.kind {
                RunOptionKind::Semantics(semantics) => options.semantics = *semantics,
                RunOptionKind::Chrono => options.chrono = true,
                RunOptionKind::Trace => options.trace = true,
                RunOptionKind::Stats => options.stats = true,
                RunOptionKind::Strict => options.strict = true,
                RunOptionKind::Unchecked => options.unchecked = true,
                RunOptionKind::Probe => options.probe = true,
                RunOptionKind::For(n) => options.n_cycles = Some(usize::try_from(*n).unwrap_or(usize::MAX)),
                RunOptionKind::Seed(seed) => options.seed = *seed,
                RunOptionKind::Show(paths) => {
                    options.show.extend(paths.iter().map(|path| (path.text(names), path.span)));
                }
            }
        }
        options.semantics = overrides.semantics.unwrap_or(options.semantics);
        options.seed = overrides.seed.unwrap_or(options.seed);
        options.trace |= overrides.trace;
        (options.max_window, options.width) = (overrides.max_window, overrides.width);
        options
    }
}
