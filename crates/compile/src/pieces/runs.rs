//! Which statements of a block go into one piece.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::words::{Declared, assigns, declared, free, weight_of, words};
use crate::lines::{Line, Lines};

/// A statement of C, with what cannot be told from it: comments and pragmas in front, `else` behind.
pub(super) struct Statement {
    pub lines: Vec<Line>,
    /// Whether it must be in the function and the loop where it was written.
    is_fixed: bool,
}

impl Statement {
    /// The variables that the rest of the block sees, and that never change.
    pub fn declared(&self) -> Vec<Declared> {
        let plain = self.lines.iter().filter_map(|line| match line {
            Line::Plain(text) => Some(declared(text)),
            Line::Block { .. } => None,
        });
        plain.flatten().filter(|declared| declared.is_const).collect()
    }

    /// Whether it gives a variable another value.
    pub fn assigns(&self, name: &str) -> bool {
        self.lines.iter().any(|line| line.any(&|text| assigns(text, name)))
    }

    fn weight(&self) -> usize {
        self.lines.iter().map(weight_of).sum()
    }
}

/// The statements of a block; its head declares the indices of a loop.
pub(super) fn statements(block: Lines, indices: &[Declared]) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut is_begun = false;
    for line in block.lines {
        let is_fixed = stays(&line, indices);
        let goes_on = is_begun || matches!(&line, Line::Block { head, .. } if head.starts_with("else"));
        is_begun = matches!(&line, Line::Plain(text) if is_in_front(text));
        match statements.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.is_fixed |= is_fixed;
                last.lines.push(line);
            }
            None => statements.push(Statement { lines: vec![line], is_fixed }),
        }
    }
    statements
}

/// Whether a line belongs to the one after it.
fn is_in_front(text: &str) -> bool {
    text.starts_with('#') || text.starts_with("/*") && text.ends_with("*/")
}

/// Whether a line leaves the function or the loop, or sets an index.
fn stays(line: &Line, indices: &[Declared]) -> bool {
    let leaves = |text: &str| {
        let mut words = words(text).into_iter().map(|word| &text[word]);
        words.any(|word| matches!(word, "return" | "break" | "continue"))
    };
    line.any(&leaves) || indices.iter().any(|index| line.any(&|text| assigns(text, &index.name)))
}

/// A part of a block.
pub(super) enum Part {
    /// A statement that stays.
    Stays(usize),
    /// Statements that become a piece.
    Piece(Range<usize>),
}

/// Cuts a block into pieces of about so many lines.
pub(super) fn parts(statements: &[Statement], n_lines: usize) -> Vec<Part> {
    let crossing = crossing(statements);
    let (mut parts, mut start) = (Vec::new(), 0);
    while start < statements.len() {
        if statements[start].is_fixed {
            parts.push(Part::Stays(start));
            start += 1;
            continue;
        }
        let (mut end, mut weight, mut ends) = (start, 0, Vec::new());
        while end < statements.len() && !statements[end].is_fixed {
            weight += statements[end].weight();
            if weight > n_lines && end > start {
                break;
            }
            end += 1;
            if 4 * weight >= 3 * n_lines {
                ends.push(end);
            }
        }
        let is_end = end == statements.len() || statements[end].is_fixed;
        match parts.last_mut() {
            // So few lines are not worth a call.
            Some(Part::Piece(last)) if is_end && 4 * weight < n_lines && last.end == start => last.end = end,
            _ if is_end && 4 * weight < n_lines => parts.extend((start..end).map(Part::Stays)),
            _ => {
                // Where the fewest variables cross the cut; of equal ones the last.
                let best = ends.into_iter().rev().min_by_key(|end| crossing[*end]);
                end = best.filter(|_| !is_end).unwrap_or(end);
                parts.push(Part::Piece(start..end));
            }
        }
        start = end;
    }
    parts
}

/// For each place between two statements, how many variables are declared before it and needed after it.
fn crossing(statements: &[Statement]) -> Vec<usize> {
    let mut declared: FxHashMap<String, usize> = FxHashMap::default();
    let mut last: FxHashMap<&str, usize> = FxHashMap::default();
    for (number, statement) in statements.iter().enumerate() {
        for name in free(&statement.lines) {
            last.insert(name, number);
        }
        declared.extend(statement.declared().into_iter().map(|declared| (declared.name, number)));
    }
    let mut changes = vec![0_isize; statements.len() + 2];
    for (name, first) in &declared {
        if let Some(last) = last.get(name.as_str()).filter(|last| *last > first) {
            changes[first + 1] += 1;
            changes[last + 1] -= 1;
        }
    }
    let crossing = changes.iter().scan(0_isize, |n, change| {
        *n += change;
        Some(usize::try_from(*n).expect("what ends has begun"))
    });
    crossing.collect()
}
