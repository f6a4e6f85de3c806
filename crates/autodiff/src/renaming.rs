//! Saves copies: a derivative with one contribution *is* that contribution.
//!
//! Recurrences make derivatives depend on each other in circles, so each gets a stream of its own before its equation is
//! known. Where the equation would be a copy, one of both streams takes the place of the other afterwards.

use eddy_flow::{Kind, VarId};
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::writer::Writer;

/// Which streams stand for which.
pub(crate) struct Renaming {
    instead: FxHashMap<VarId, VarId>,
    /// Streams that others know: they keep their equations.
    pinned: FxHashSet<VarId>,
    /// Streams from this number on were written for one place.
    first_fresh: usize,
    first_equation: usize,
}

impl Renaming {
    /// To be made when all streams that stand for derivatives exist, and no equation of theirs does.
    pub fn new(writer: &Writer, pinned: FxHashSet<VarId>) -> Self {
        Renaming {
            instead: FxHashMap::default(),
            pinned,
            first_fresh: writer.vars.len(),
            first_equation: writer.body.equations.len(),
        }
    }

    /// Defines `target` to be the sum of these, from left to right.
    pub fn define_sum(&mut self, target: VarId, parts: &[VarId], writer: &mut Writer) {
        use eddy_tensor::Algebra;
        match parts {
            [] => unreachable!("a stream without contributions has no derivative"),
            [part] => self.define_copy(target, *part, writer),
            [first, middle @ .., last] => {
                let sum = middle.iter().fold(*first, |sum, part| writer.apply(Op::Add, &[sum, *part]));
                writer.define(target, Kind::Apply(Op::Add, Box::new([sum, *last])));
            }
        }
    }

    /// Defines `target` to be `part`.
    pub fn define_copy(&mut self, target: VarId, part: VarId, writer: &mut Writer) {
        if part.index() >= self.first_fresh && !self.instead.contains_key(&part) {
            self.instead.insert(part, target);
        } else if self.pinned.contains(&target) || self.resolve(part) == target {
            writer.define_copy(target, part);
        } else {
            self.instead.insert(target, part);
        }
    }

    /// The stream that stands for this one.
    pub fn resolve(&self, mut var: VarId) -> VarId {
        while let Some(next) = self.instead.get(&var) {
            var = *next;
        }
        var
    }

    /// Renames in all that was written since.
    pub fn finish(&self, writer: &mut Writer) {
        for equation in &mut writer.body.equations[self.first_equation..] {
            *equation = equation.renamed(&|var| self.resolve(var));
        }
        for placed in &mut writer.body.instances {
            placed.instance.rename(&|var| self.resolve(var));
        }
    }
}
