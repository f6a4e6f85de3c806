//! The cotangents of names while a reverse sweep is written.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Writer;
use crate::ir::{At, Kind, Region, Var};

/// The construct that a region belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Construct {
    Body,
    Branch,
    Loop,
}

/// A region whose reverse sweep is being written.
pub(super) struct Frame {
    construct: Construct,
    locals: FxHashSet<Var>,
    /// The cotangents so far: of local names, and in a branch of names that are passed through it.
    pub cotangents: FxHashMap<Var, Var>,
    /// Names from outside and the accumulators of their cotangents.
    pub accs: Vec<(Var, Var)>,
    /// For some names, a value of the same shape.
    pub templates: FxHashMap<Var, Var>,
}

impl Frame {
    pub fn new(construct: Construct, locals: impl IntoIterator<Item = Var>) -> Frame {
        Frame {
            construct,
            locals: locals.into_iter().collect(),
            cotangents: FxHashMap::default(),
            accs: Vec::new(),
            templates: FxHashMap::default(),
        }
    }

    /// Makes the names of a region local.
    pub fn define(&mut self, region: &Region) {
        self.locals.extend(region.stmts.iter().flat_map(|stmt| stmt.results.iter().copied()));
    }

    pub fn has(&self, var: Var) -> bool {
        self.locals.contains(&var)
    }

    /// Names that are passed through a branch, in order.
    pub fn passed(&self) -> Vec<Var> {
        let mut passed: Vec<Var> =
            self.cotangents.keys().copied().filter(|var| !self.locals.contains(var)).collect();
        passed.sort_unstable();
        passed
    }
}

impl Writer<'_> {
    /// Adds `g` to a place of the cotangent of a name.
    pub(super) fn contribute(&mut self, var: Var, at: &[At], g: Var) {
        if !self.varied.has(var) {
            return;
        }
        if let Some(acc) = self.acc(var) {
            self.builder.push(Vec::new(), Kind::Add(acc, at.to_vec(), g));
            return;
        }
        let sum = match self.current(var) {
            None if at.is_empty() => g,
            None => {
                let zeros = self.zeros(var);
                self.builder.increase(zeros, at, g)
            }
            Some(current) => self.builder.increase(current, at, g),
        };
        self.set(var, sum);
    }

    /// The accumulator of the cotangent of a name; a loop around the current region gets a new one if the
    /// name is defined outside of it. `None` if the cotangent is a value.
    pub(super) fn acc(&mut self, var: Var) -> Option<Var> {
        let owner = self.owner(var);
        let known = self.frames[owner..].iter().flat_map(|frame| &frame.accs).find(|(name, _)| *name == var);
        if let Some((_, acc)) = known {
            return Some(*acc);
        }
        let inside = owner
            + 1
            + self.frames[owner + 1..].iter().position(|frame| frame.construct == Construct::Loop)?;
        let acc = self.cotangent_name("d", var);
        self.frames[inside].accs.push((var, acc));
        Some(acc)
    }

    fn owner(&self, var: Var) -> usize {
        let owner = self.frames.iter().rposition(|frame| frame.locals.contains(&var));
        owner.expect("a name that is used is defined in an enclosing region")
    }

    /// The cotangent so far, unless it is in an accumulator or zero.
    pub(super) fn current(&self, var: Var) -> Option<Var> {
        let owner = self.owner(var);
        self.frames[owner..].iter().rev().find_map(|frame| frame.cotangents.get(&var).copied())
    }

    pub(super) fn current_or_zeros(&mut self, var: Var) -> Var {
        match self.current(var) {
            Some(current) => current,
            None => self.zeros(var),
        }
    }

    pub(super) fn set(&mut self, var: Var, cotangent: Var) {
        self.top().cotangents.insert(var, cotangent);
    }

    /// Removes and returns the complete cotangent of a name, when the sweep reaches its definition.
    pub(super) fn take(&mut self, var: Var) -> Option<Var> {
        self.top().cotangents.remove(&var)
    }

    pub(super) fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a region is being written")
    }

    pub(super) fn zeros(&mut self, var: Var) -> Var {
        let template = self.frames.iter().rev().find_map(|frame| frame.templates.get(&var).copied());
        self.builder.zeros_like(template.unwrap_or(var))
    }
}
