//! Removes copies: a derivative with a single contribution *is* that contribution.
//!
//! Recurrences make derivatives depend on each other in cycles, so each gets a stream before its equation is
//! known. If the equation would be a copy, one of the two streams is replaced by the other afterwards.

use eddy_flow::{Kind, VarId};
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rows::PlacedRows;
use crate::writer::Writer;

/// The replacements of streams.
pub(crate) struct Renaming {
    instead: FxHashMap<VarId, VarId>,
    /// Streams that are visible outside: they keep their equations.
    pinned: FxHashSet<VarId>,
    /// Streams from this number on have a single reader.
    first_fresh: usize,
    first_equation: usize,
    rows: PlacedRows,
}

impl Renaming {
    /// Must be called when the streams of all derivatives exist and none of their equations do.
    pub fn new(writer: &Writer, pinned: FxHashSet<VarId>) -> Self {
        Renaming {
            instead: FxHashMap::default(),
            pinned,
            first_fresh: writer.vars.len(),
            first_equation: writer.body.equations.len(),
            rows: PlacedRows::new(writer.body.equations.len()),
        }
    }

    /// Defines `target` as the sum of these, from left to right. Adjacent rows that are placed among zeros
    /// are concatenated first.
    pub fn define_sum(&mut self, target: VarId, parts: &[VarId], writer: &mut Writer) {
        use eddy_tensor::Algebra;
        let parts = self.rows.joined(parts, self.first_fresh, writer);
        match parts.as_slice() {
            [] => unreachable!("a stream without contributions has no derivative"),
            [part] => self.define_copy(target, *part, writer),
            [first, middle @ .., last] => {
                let sum = middle.iter().fold(*first, |sum, part| writer.apply(Op::Add, &[sum, *part]));
                writer.define(target, Kind::Apply(Op::Add, Box::new([sum, *last])));
            }
        }
    }

    /// Defines `target` as `part`.
    pub fn define_copy(&mut self, target: VarId, part: VarId, writer: &mut Writer) {
        if part.index() >= self.first_fresh && !self.instead.contains_key(&part) {
            self.instead.insert(part, target);
        } else if self.pinned.contains(&target) || self.resolve(part) == target {
            writer.define_copy(target, part);
        } else {
            self.instead.insert(target, part);
        }
    }

    /// The replacement of this stream. Compresses the path, since chains of replacements may be long.
    fn resolve(&mut self, var: VarId) -> VarId {
        let mut end = var;
        while let Some(next) = self.instead.get(&end) {
            end = *next;
        }
        let mut at = var;
        while at != end {
            at = self.instead.insert(at, end).expect("it was passed on the way");
        }
        end
    }

    /// Applies the replacements to all equations written since; returns them.
    pub fn finish(mut self, writer: &mut Writer) -> Renamed {
        let renamed: Vec<VarId> = self.instead.keys().copied().collect();
        for var in renamed {
            self.resolve(var);
        }
        let Renaming { instead, first_equation, rows, .. } = self;
        rows.forget_joined(writer);
        let renamed = Renamed(instead);
        let resolve = |var: VarId| renamed.stream(var);
        for equation in &mut writer.body.equations[first_equation..] {
            *equation = equation.renamed(&resolve);
        }
        for placed in &mut writer.body.instances {
            placed.instance.rename(&resolve);
        }
        renamed
    }
}

/// The final replacements of streams.
pub(crate) struct Renamed(FxHashMap<VarId, VarId>);

impl Renamed {
    /// The replacement of this stream.
    pub fn stream(&self, var: VarId) -> VarId {
        self.0.get(&var).copied().unwrap_or(var)
    }
}
