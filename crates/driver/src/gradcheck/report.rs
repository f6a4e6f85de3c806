//! The result of a check of derivatives; `Display` writes the table of the worst entries.

use std::fmt;

use eddy_language::codes;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Shape;

use super::measure::Entries;

/// The number of entries in the table.
const SHOWN: usize = 10;

/// One number that was varied.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The input or parameter.
    pub name: String,
    /// The span of its declaration.
    pub span: Span,
    /// The cycle; `None` for parameters, which are constant.
    pub cycle: Option<usize>,
    /// The place in the tensor, in row-major order.
    pub index: usize,
    /// The shape of that tensor.
    pub shape: Shape,
    /// The derivative by `adj_N`.
    pub adjoint: f64,
    /// The finite difference.
    pub difference: f64,
    /// Whether the slopes to the left and to the right differ here and the adjoint lies between them.
    pub is_kink: bool,
    /// Whether both derivatives give information: a known output depends on the entry, and the adjoint is
    /// known at all cycles.
    pub is_checked: bool,
}

impl Entry {
    /// The difference of both, relative to the larger one and to 1.
    pub fn error(&self) -> f64 {
        let size = self.adjoint.abs().max(self.difference.abs()).max(1.0);
        (self.adjoint - self.difference).abs() / size
    }

    /// The entry in messages, such as `x[1][2]`.
    pub fn place(&self) -> String {
        place_in(&self.name, &self.shape, self.index)
    }
}

/// Derivatives that agree with finite differences.
#[derive(Clone, Debug)]
pub struct GradientReport {
    /// The node.
    pub node: String,
    /// The tolerated difference.
    pub tolerance: f64,
    /// The entries that were compared, the worst first.
    pub compared: Vec<Entry>,
    /// Entries at a kink, with an adjoint between the slopes on both sides.
    pub kinks: Vec<Entry>,
    /// Entries that no known output depends on.
    pub unchecked: Vec<Entry>,
    /// The number of all entries; for large programs, a sample is compared.
    pub n_entries: usize,
    /// The number of cycles.
    pub n_cycles: usize,
    /// The number of cells of outputs.
    pub n_cells: usize,
    /// The number of unknown ones.
    pub n_unknown: usize,
    /// What could not be measured.
    pub notes: Vec<String>,
}

impl GradientReport {
    /// The report, or the diagnostics for derivatives that differ.
    pub(super) fn new(
        node: &str,
        entries: Entries,
        tolerance: f64,
        span: Span,
    ) -> Result<GradientReport, Vec<Diagnostic>> {
        let Entries { measured, n_all: n_entries, n_cycles, n_cells, n_unknown, notes } = entries;
        let (checked, unchecked): (Vec<Entry>, Vec<Entry>) =
            measured.into_iter().partition(|entry| entry.is_checked);
        let (kinks, mut compared): (Vec<Entry>, Vec<Entry>) =
            checked.into_iter().partition(|entry| entry.is_kink);
        compared.sort_by(|a, b| b.error().total_cmp(&a.error()));
        if compared.is_empty() || n_cycles == 0 {
            let title = if kinks.is_empty() && !unchecked.is_empty() {
                format!("no number is checked: no known output of `{node}` depends on one")
            } else if kinks.is_empty() {
                format!("`{node}` has no number that could be varied")
            } else {
                format!("all numbers that `{node}` depends on are at kinks; give other data with `--in FILE`")
            };
            return Err(vec![Diagnostic::error(codes::GRADIENT, span, title)]);
        }
        // NaN is never within the tolerance.
        let is_wrong = |entry: &&Entry| entry.error().is_nan() || entry.error() > tolerance;
        let wrong: Vec<Diagnostic> = compared.iter().filter(is_wrong).take(SHOWN).map(diagnostic).collect();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let node = node.to_string();
        Ok(GradientReport {
            node,
            tolerance,
            compared,
            kinks,
            unchecked,
            n_entries,
            n_cycles,
            n_cells,
            n_unknown,
            notes,
        })
    }
}

impl fmt::Display for GradientReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} of {} over {}, all within {:e}",
            self.node,
            self.compared.len(),
            count(self.n_entries, "entry", "entries"),
            count(self.n_cycles, "cycle", "cycles"),
            self.tolerance
        )?;
        let rows: Vec<[String; 5]> = self.compared.iter().take(SHOWN).map(row).collect();
        let header = ["worst entries", "cycle", "adjoint", "difference", "error"].map(str::to_string);
        f.write_str(&table(&header, &rows))?;
        if !self.kinks.is_empty() {
            let n = count(self.kinks.len(), "entry is", "entries are");
            writeln!(
                f,
                "note: {n} at a kink, with an adjoint between the slopes to the left and to the right"
            )?;
        }
        if self.n_unknown > 0 {
            writeln!(f, "note: {} of {} output cells are unknown", self.n_unknown, self.n_cells)?;
        }
        if !self.unchecked.is_empty() {
            let n = count(self.unchecked.len(), "entry is", "entries are");
            let what = if self.unchecked.len() == 1 { "it" } else { "them" };
            writeln!(f, "note: {n} not checked: no known output depends on {what}")?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))
    }
}

/// Columns of minimal width: the first one left-aligned, the others right-aligned.
pub(crate) fn table<const N: usize>(header: &[String; N], rows: &[[String; N]]) -> String {
    let width =
        |column: usize| rows.iter().chain([header]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    [header].into_iter().chain(rows).map(line).collect()
}

/// An element of a tensor in messages, such as `x[1][2]`; `index` counts in row-major order.
pub(crate) fn place_in(name: &str, shape: &Shape, index: usize) -> String {
    let mut rest = index;
    let mut indices = Vec::new();
    for size in shape.iter().rev() {
        indices.push(rest % size.max(&1));
        rest /= size.max(&1);
    }
    let indices = indices.iter().rev().map(|index| format!("[{index}]"));
    format!("{name}{}", indices.collect::<String>())
}

pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn row(entry: &Entry) -> [String; 5] {
    [
        entry.place(),
        entry.cycle.map_or("all".to_string(), |cycle| cycle.to_string()),
        format!("{:.8}", entry.adjoint),
        format!("{:.8}", entry.difference),
        format!("{:.1e}", entry.error()),
    ]
}

fn diagnostic(entry: &Entry) -> Diagnostic {
    let at = entry.cycle.map_or(String::new(), |cycle| format!(" at cycle {cycle}"));
    let title = format!(
        "the derivative in `{}`{at} is {:.8}, but finite differences give {:.8}",
        entry.place(),
        entry.adjoint,
        entry.difference
    );
    Diagnostic::error(codes::GRADIENT, entry.span, title).help(
        "a function with a kink or a jump near this value, or a custom derivative that is not the derivative, looks like this",
    )
}
