//! Merges rows that are placed among zeros.
//!
//! The derivative of `z[2]` in `z` is a row among zeros, and a layer that reads all rows of `z` gets a sum of
//! such terms:
//!
//! ```text
//! pad(0, 2, a) + pad(1, 2, b)      becomes      concat(a, b)
//! ```

use eddy_flow::{Kind, VarId};
use eddy_tensor::{Algebra, Op, Shape, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::writer::Writer;

/// The equations `pad(lo, n, rows)` that were written.
pub(crate) struct PlacedRows {
    /// By the stream that they define: `lo` and `rows`.
    known: FxHashMap<VarId, (usize, VarId)>,
    /// The number of equations examined so far.
    seen: usize,
    /// Streams that became part of others.
    joined: FxHashSet<VarId>,
}

impl PlacedRows {
    /// Examines equations from this one on.
    pub fn new(first_equation: usize) -> PlacedRows {
        PlacedRows { known: FxHashMap::default(), seen: first_equation, joined: FxHashSet::default() }
    }

    /// The terms of a sum, with adjacent rows merged to one term. Streams from `first_fresh` on have a single
    /// reader.
    pub fn joined(&mut self, parts: &[VarId], first_fresh: usize, writer: &mut Writer) -> Vec<VarId> {
        self.look(writer);
        let is_placed = |part: &&VarId| part.index() >= first_fresh && self.known.contains_key(*part);
        let mut placed: Vec<(usize, VarId, VarId)> = parts
            .iter()
            .filter(is_placed)
            .map(|part| (self.known[part].0, self.known[part].1, *part))
            .collect();
        placed.sort_by_key(|(lo, ..)| *lo);
        let mut end = 0;
        placed.retain(|(lo, rows, _)| {
            let is_free = *lo >= end;
            if is_free {
                end = lo + writer.ty(*rows).shape[0];
            }
            is_free
        });
        if placed.len() < 2 {
            return parts.to_vec();
        }
        let whole = writer.ty(placed[0].2).clone();
        let together = put_together(&placed, &whole, writer);
        self.joined.extend(placed.iter().map(|(.., part)| *part));
        let others = parts.iter().copied().filter(|part| !self.joined.contains(part));
        let first = parts.iter().position(|part| self.joined.contains(part)).unwrap_or(0);
        let mut parts: Vec<VarId> = others.collect();
        parts.insert(first, together);
        parts
    }

    fn look(&mut self, writer: &Writer) {
        for equation in &writer.body.equations[self.seen..] {
            if let Kind::Apply(Op::Pad(lo, _), operands) = &equation.kind {
                self.known.insert(equation.out, (*lo, operands[0]));
            }
        }
        self.seen = writer.body.equations.len();
    }

    /// Removes equations that became part of others.
    pub fn forget_joined(self, writer: &mut Writer) {
        if !self.joined.is_empty() {
            writer.body.equations.retain(|equation| !self.joined.contains(&equation.out));
        }
    }
}

/// The rows, one after the other, with zeros between them.
fn put_together(placed: &[(usize, VarId, VarId)], whole: &Type, writer: &mut Writer) -> VarId {
    let zeros = |n: usize, writer: &mut Writer| {
        let sizes: Vec<usize> = [n].into_iter().chain(whole.shape[1..].iter().copied()).collect();
        writer.zero(Type { scalar: whole.scalar, shape: Shape::new(&sizes) })
    };
    let (mut rows, mut end) = (Vec::new(), 0);
    for (lo, part, _) in placed {
        if *lo > end {
            rows.push(zeros(lo - end, writer));
        }
        rows.push(*part);
        end = lo + writer.ty(*part).shape[0];
    }
    if end < whole.shape[0] {
        rows.push(zeros(whole.shape[0] - end, writer));
    }
    if rows.len() == 1 { rows[0] } else { writer.apply(Op::Concat, &rows) }
}
