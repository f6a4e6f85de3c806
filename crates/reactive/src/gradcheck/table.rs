//! The worst entries, for people.

use std::fmt::Write;

use eddy_syntax::{Diagnostic, Span};

use super::measure::{Entries, Entry};
use crate::codes;

/// So many entries are shown.
const SHOWN: usize = 10;

/// The table, or what is wrong.
pub(super) fn answer(
    node: &str,
    entries: &Entries,
    tolerance: f64,
    span: Span,
) -> Result<String, Vec<Diagnostic>> {
    let (checked, unchecked): (Vec<&Entry>, Vec<&Entry>) =
        entries.measured.iter().partition(|entry| entry.is_checked);
    let (kinks, mut worst): (Vec<&Entry>, Vec<&Entry>) = checked.into_iter().partition(|entry| entry.is_kink);
    worst.sort_by(|a, b| b.error().total_cmp(&a.error()));
    if worst.is_empty() || entries.n_cycles == 0 {
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
    let is_wrong = |entry: &&&Entry| entry.error().is_nan() || entry.error() > tolerance;
    let wrong: Vec<Diagnostic> = worst.iter().filter(is_wrong).take(SHOWN).map(|entry| told(entry)).collect();
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{node}: {} of {} over {}, all within {tolerance:e}",
        worst.len(),
        count(entries.n_all, "entry", "entries"),
        count(entries.n_cycles, "cycle", "cycles")
    );
    let rows: Vec<[String; 5]> = worst.iter().take(SHOWN).map(|entry| row(entry)).collect();
    let header = ["worst entries", "cycle", "adjoint", "difference", "error"].map(str::to_string);
    let width = |column: usize| {
        rows.iter().chain([&header]).map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..5).map(width).collect();
    for row in [&header].into_iter().chain(&rows) {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
    }
    if !kinks.is_empty() {
        let n = count(kinks.len(), "entry is", "entries are");
        let _ = writeln!(
            text,
            "note: {n} at a kink, with an adjoint between the slopes to the left and to the right"
        );
    }
    if entries.n_unknown > 0 {
        let _ = writeln!(text, "note: {} of {} output cells are unknown", entries.n_unknown, entries.n_cells);
    }
    if !unchecked.is_empty() {
        let n = count(unchecked.len(), "entry is", "entries are");
        let _ = writeln!(text, "note: {n} not checked: no known output depends on them");
    }
    for note in &entries.notes {
        let _ = writeln!(text, "note: {note}");
    }
    Ok(text)
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn row(entry: &Entry) -> [String; 5] {
    [
        place(entry),
        entry.cycle.map_or("all".to_string(), |cycle| cycle.to_string()),
        format!("{:.8}", entry.adjoint),
        format!("{:.8}", entry.difference),
        format!("{:.1e}", entry.error()),
    ]
}

/// `x[1][2]`.
fn place(entry: &Entry) -> String {
    let mut rest = entry.index;
    let mut indices = Vec::new();
    for size in entry.shape.iter().rev() {
        indices.push(rest % size.max(&1));
        rest /= size.max(&1);
    }
    let indices = indices.iter().rev().map(|index| format!("[{index}]"));
    format!("{}{}", entry.name, indices.collect::<String>())
}

fn told(entry: &Entry) -> Diagnostic {
    let at = entry.cycle.map_or(String::new(), |cycle| format!(" at cycle {cycle}"));
    let title = format!(
        "the derivative in `{}`{at} is {:.8}, but finite differences give {:.8}",
        place(entry),
        entry.adjoint,
        entry.difference
    );
    Diagnostic::error(codes::GRADIENT, entry.span, title).help(
        "a function with a kink or a jump near this value, or a custom derivative that is not the derivative, looks like this",
    )
}
