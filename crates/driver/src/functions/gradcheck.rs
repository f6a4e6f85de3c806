//! Derivatives of a function against finite differences.
//!
//! The nums of the result are weighted and summed to one number. The reverse mode computes the derivative of
//! that number with respect to each entry of each num of the arguments in one run, the forward mode one entry
//! per run; a finite difference takes two runs, with the entry slightly larger and slightly smaller.
//! Parameters without num are not varied.

use std::fmt;

use eddy_language::codes;
use eddy_language::functions::entry::CallError;
use eddy_language::functions::made_up::Choice;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Shape;

use super::calls::{DataCalls, Line};
use super::measure::Point;
use super::{Datum, FunctionModel, NoResult};
use crate::data::Data;
use crate::gradcheck::{TOLERANCE, count, table};
use crate::inputs::read_shapes;
use crate::program::Answer;
use crate::refusal::Refusal;

/// The number of attempts to generate arguments: generated sizes and indices may not fit.
const MAX_ATTEMPTS: u64 = 20;

/// The number of entries in the table.
const SHOWN: usize = 10;

/// How derivatives of a function are checked.
#[derive(Clone, Debug, Default)]
pub struct FunctionGradcheck {
    /// The seed of random arguments.
    pub seed: u64,
    /// The tolerated difference from finite differences; `None` means 1e-5.
    pub tolerance: Option<f64>,
    /// The shapes of generated arguments without a written type, which are scalars otherwise:
    /// `("x", "[2, 3]")`.
    pub shapes: Vec<(String, String)>,
}

/// One number that was varied.
#[derive(Clone, Debug)]
pub struct FunctionEntry {
    /// The place, such as `b.at[1]`.
    pub place: String,
    /// The number of the call, from 1.
    pub call: usize,
    /// The derivative by `adj_f`.
    pub reverse: f64,
    /// The derivative by `tan_f`.
    pub forward: f64,
    /// The finite difference.
    pub difference: f64,
    /// Whether the slopes on both sides differ here and both modes lie between them.
    pub is_kink: bool,
}

/// Derivatives of a function that agree with finite differences.
#[derive(Clone, Debug)]
pub struct FunctionGradients {
    /// The function.
    pub function: String,
    /// The tolerated difference.
    pub tolerance: f64,
    /// The entries that were compared, the worst first.
    pub compared: Vec<FunctionEntry>,
    /// Entries at a kink, with derivatives between the slopes on both sides.
    pub kinks: Vec<FunctionEntry>,
    /// The number of all entries; if there are many, a sample is compared.
    pub n_entries: usize,
    /// The number of calls.
    pub n_calls: usize,
}

impl FunctionEntry {
    /// The difference of the worse mode from finite differences, relative to the larger one and to 1.
    pub fn error(&self) -> f64 {
        let error = |mode: f64| {
            let size = mode.abs().max(self.difference.abs()).max(1.0);
            (mode - self.difference).abs() / size
        };
        let (reverse, forward) = (error(self.reverse), error(self.forward));
        // NaN counts as the largest error.
        if reverse.is_nan() || reverse > forward { reverse } else { forward }
    }
}

impl FunctionModel {
    /// Compares both modes with finite differences, at the arguments of each line of the data, or at random
    /// ones. Derivatives that differ are a refusal.
    pub fn gradcheck(
        self,
        request: &FunctionGradcheck,
        data: Vec<Data>,
    ) -> Result<Answer<FunctionGradients>, NoResult> {
        let (program, name, span) = (self.program.clone(), self.name().to_string(), self.span());
        let mut found = Measured::default();
        if data.is_empty() {
            let mut sources = program.sources().clone();
            let shapes = read_shapes(&mut sources, &request.shapes, span);
            let shapes = shapes.map_err(|diagnostics| NoResult::Refused(Refusal { diagnostics, sources }))?;
            let mut model = self;
            found = model.at_made_up(request.seed, &shapes)?;
        } else {
            let mut calls: DataCalls = self.calls(data).map_err(NoResult::Refused)?;
            while let Some(Line { file, call, arguments }) =
                calls.next_arguments().map_err(NoResult::Refused)?
            {
                let seed = request.seed;
                let measured = calls.model_mut().at(&arguments, seed, found.n_calls + 1);
                found.extend(measured.map_err(|error| calls.no_result(file, &call, error))?);
            }
        }
        let tolerance = request.tolerance.unwrap_or(TOLERANCE);
        match found.report(name, tolerance, span) {
            Ok(report) => Ok(program.answer(report, Vec::new())),
            Err(wrong) => Err(NoResult::Refused(Refusal::new(wrong, program.sources()))),
        }
    }

    /// Measures at random arguments. If some are outside of the function's domain, others are tried.
    fn at_made_up(&mut self, seed: u64, shapes: &[(String, Shape)]) -> Result<Measured, NoResult> {
        let mut last = None;
        if !self.entry.modes().is_empty() {
            let title =
                format!("arguments of `{}` cannot be generated: give some with `--in FILE`", self.name());
            let diagnostic = Diagnostic::error(codes::GRADIENT, self.span(), title);
            return Err(NoResult::Refused(self.program.refusal(vec![diagnostic])));
        }
        for attempt in 0..MAX_ATTEMPTS {
            let choice = Choice { seed, attempt, only_positive: attempt >= MAX_ATTEMPTS / 2 };
            let arguments = self.entry.made_up(self.program.resolved(), shapes, choice);
            let arguments = match arguments {
                Ok(arguments) => arguments,
                Err(reason) => {
                    last = Some(Diagnostic::error(codes::GRADIENT, self.span(), reason));
                    continue;
                }
            };
            match self.at(&arguments, seed, 1) {
                Ok(found) if found.entries.iter().any(|entry| entry.error().is_nan()) => {
                    let title = "the derivatives at the generated arguments are nan".to_string();
                    last = Some(Diagnostic::error(codes::GRADIENT, self.span(), title));
                }
                Ok(found) => return Ok(found),
                Err(CallError::Refused(wrong)) => {
                    let wrong = wrong.help("parameters without a type are numbers; `--in FILE` gives others");
                    return Err(NoResult::Refused(self.program.refusal(vec![wrong])));
                }
                Err(CallError::Argument(mismatch)) => {
                    let wrong = super::unfit_argument(mismatch, self.span());
                    return Err(NoResult::Refused(self.program.refusal(vec![wrong])));
                }
                Err(CallError::Failed(failure)) => last = Some(*failure),
            }
        }
        let cause = last.map_or_else(String::new, |last| last.title);
        let title = format!("no arguments of `{}` could be generated: {cause}", self.name());
        let diagnostic = Diagnostic::error(codes::GRADIENT, self.span(), title)
            .help("give some with `--in FILE`, one object per line");
        Err(NoResult::Refused(self.program.refusal(vec![diagnostic])))
    }

    /// Measures the entries of one call, or a sample of them.
    fn at(&mut self, arguments: &[(String, Datum)], seed: u64, number: usize) -> Result<Measured, CallError> {
        let FunctionModel { program, entry, budget, .. } = self;
        let (entries, n_entries) = Point::new(program, entry, budget, arguments, seed)?.entries(number)?;
        Ok(Measured { entries, n_entries, n_calls: 1 })
    }
}

/// The measurements at some calls.
#[derive(Default)]
struct Measured {
    entries: Vec<FunctionEntry>,
    n_entries: usize,
    n_calls: usize,
}

impl Measured {
    fn extend(&mut self, other: Measured) {
        self.entries.extend(other.entries);
        self.n_entries += other.n_entries;
        self.n_calls += other.n_calls;
    }

    fn report(
        self,
        function: String,
        tolerance: f64,
        span: Span,
    ) -> Result<FunctionGradients, Vec<Diagnostic>> {
        let Measured { entries, n_entries, n_calls } = self;
        let (kinks, mut compared): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.is_kink);
        compared.sort_by(|a, b| b.error().total_cmp(&a.error()));
        if compared.is_empty() {
            let title = if kinks.is_empty() {
                format!("`{function}` has no number that could be varied")
            } else {
                format!(
                    "all numbers that `{function}` depends on are at kinks; give other data with `--in FILE`"
                )
            };
            return Err(vec![Diagnostic::error(codes::GRADIENT, span, title)]);
        }
        // NaN is never within the tolerance.
        let is_wrong = |entry: &&FunctionEntry| entry.error().is_nan() || entry.error() > tolerance;
        let wrong: Vec<&FunctionEntry> = compared.iter().filter(is_wrong).collect();
        if let Some(worst) = wrong.first() {
            return Err(vec![refuted(worst, wrong.len(), span)]);
        }
        Ok(FunctionGradients { function, tolerance, compared, kinks, n_entries, n_calls })
    }
}

fn refuted(entry: &FunctionEntry, n_wrong: usize, span: Span) -> Diagnostic {
    let FunctionEntry { place, call, reverse, forward, difference, .. } = entry;
    let title = format!(
        "the derivative in `{place}` is {reverse:.8} in reverse and {forward:.8} forwards, but finite differences give {difference:.8}"
    );
    let n_wrong = count(n_wrong, "entry is wrong", "entries are wrong");
    let reason = format!("in call {call}; {n_wrong}");
    Diagnostic::error(codes::GRADIENT, span, title).reason(reason).help(
        "a function with a kink or a jump near this value, or a custom derivative that is not the derivative, looks like this",
    )
}

impl fmt::Display for FunctionGradients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} of {} in {}, both modes within {:e}",
            self.function,
            self.compared.len(),
            count(self.n_entries, "entry", "entries"),
            count(self.n_calls, "call", "calls"),
            self.tolerance
        )?;
        let header =
            ["worst entries", "call", "reverse", "forward", "difference", "error"].map(str::to_string);
        let rows: Vec<[String; 6]> = self.compared.iter().take(SHOWN).map(row).collect();
        f.write_str(&table(&header, &rows))?;
        if !self.kinks.is_empty() {
            let n = count(self.kinks.len(), "entry is", "entries are");
            writeln!(
                f,
                "note: {n} at a kink, with derivatives between the slopes to the left and to the right"
            )?;
        }
        Ok(())
    }
}

fn row(entry: &FunctionEntry) -> [String; 6] {
    [
        entry.place.clone(),
        entry.call.to_string(),
        format!("{:.8}", entry.reverse),
        format!("{:.8}", entry.forward),
        format!("{:.8}", entry.difference),
        format!("{:.1e}", entry.error()),
    ]
}
