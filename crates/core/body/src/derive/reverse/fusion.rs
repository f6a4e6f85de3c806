//! The two sweeps of a region, and statements that are in both.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Writer;
use crate::clean::{can_fail, ordered};
use crate::ir::{Kind, Stmt, Type, Var};
use crate::uses::free_vars;

/// A statement of the forward sweep.
pub(super) struct Slot {
    pub stmt: Stmt,
    /// Whether a statement of the reverse sweep replaces it, which computes both results and cotangents.
    pub is_fused: bool,
}

/// The two sweeps of a region.
pub(super) struct Parts {
    pub slots: Vec<Slot>,
    /// Sizes that only the reverse sweep needs; they come after the other statements of the forward sweep.
    pub extra: Vec<Stmt>,
    pub reverse: Vec<Stmt>,
    /// For each fused statement its place among the slots, and in the reverse sweep.
    pub fused: Vec<(usize, usize)>,
    /// For each statement that fails if a forward statement fails: the place of that statement among the
    /// slots, and its own place in the reverse sweep.
    pub risky: Vec<(usize, usize)>,
}

impl Parts {
    /// Adds statements at the start of the reverse sweep.
    pub fn prepend(&mut self, first: Vec<Stmt>) {
        for (_, place) in self.fused.iter_mut().chain(&mut self.risky) {
            *place += first.len();
        }
        self.reverse.splice(0..0, first);
    }

    /// The forward sweep alone.
    pub fn forward(&self) -> Vec<Stmt> {
        self.slots.iter().map(|slot| slot.stmt.clone()).chain(self.extra.iter().cloned()).collect()
    }

    /// Both sweeps, with each fused statement once.
    pub fn joint(&self, types: &[Type]) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        // The statements whose order matters: place in the forward sweep, and place in `stmts`.
        let mut places: Vec<(usize, usize)> = Vec::new();
        let mut forward = vec![None; self.slots.len()];
        for (at, slot) in self.slots.iter().enumerate() {
            if slot.is_fused {
                continue;
            }
            if is_ordered(&slot.stmt, types) {
                places.push((at, stmts.len()));
            }
            forward[at] = Some(stmts.len());
            stmts.push(slot.stmt.clone());
        }
        stmts.extend(self.extra.iter().cloned());
        let n_forward = stmts.len();
        stmts.extend(self.reverse.iter().cloned());
        places.extend(self.fused.iter().map(|(at, place)| (*at, n_forward + place)));
        places.sort_unstable();
        let chain: Vec<usize> = places.into_iter().map(|(_, place)| place).collect();
        let pairs =
            self.risky.iter().filter_map(|(at, place)| forward[*at].map(|at| (at, n_forward + place)));
        ordered(stmts, &chain, &pairs.collect::<Vec<_>>())
    }
}

/// Whether the order of a statement among others matters: it can fail, or adds to an accumulator that it does
/// not own.
fn is_ordered(stmt: &Stmt, types: &[Type]) -> bool {
    if can_fail(stmt, types) || matches!(stmt.kind, Kind::Add(..)) {
        return true;
    }
    let mut accs = Vec::new();
    accumulators(stmt, &mut accs);
    !accs.is_empty() && {
        let free = free_vars(stmt);
        accs.iter().any(|acc| free.contains(acc))
    }
}

/// Collects the accumulators that the inner statements of a statement add to.
fn accumulators(stmt: &Stmt, accs: &mut Vec<Var>) {
    for region in stmt.kind.regions() {
        for stmt in &region.stmts {
            if let Kind::Add(acc, ..) = stmt.kind {
                accs.push(acc);
            }
            accumulators(stmt, accs);
        }
    }
}

impl Writer<'_> {
    /// Whether a statement can be moved after the statements that compute its cotangents. These must not
    /// depend on its results, on later statements of the forward sweep that can fail or have an effect, or on
    /// reverse statements that belong to such statements.
    pub(super) fn is_fusable(&self, at: usize, parts: &Parts, cotangents: &[Var]) -> bool {
        enum Place {
            Forward(usize),
            Reverse(usize),
            Current,
        }
        let mut definitions = FxHashMap::default();
        for (place, slot) in parts.slots.iter().enumerate().skip(at) {
            if !slot.is_fused {
                definitions
                    .extend(slot.stmt.results.iter().map(|var| (*var, (&slot.stmt, Place::Forward(place)))));
            }
        }
        for stmt in &parts.extra {
            definitions.extend(stmt.results.iter().map(|var| (*var, (stmt, Place::Current))));
        }
        for (place, stmt) in parts.reverse.iter().enumerate() {
            definitions.extend(stmt.results.iter().map(|var| (*var, (stmt, Place::Reverse(place)))));
        }
        for stmt in &self.builder.out {
            definitions.extend(stmt.results.iter().map(|var| (*var, (stmt, Place::Current))));
        }
        let mut work = cotangents.to_vec();
        let mut seen: FxHashSet<Var> = FxHashSet::default();
        while let Some(var) = work.pop() {
            if !seen.insert(var) {
                continue;
            }
            let Some((stmt, place)) = definitions.get(&var) else { continue };
            match place {
                Place::Forward(place) if *place == at || is_ordered(stmt, &self.builder.types) => {
                    return false;
                }
                _ if self.risky.contains(&var) => return false,
                Place::Reverse(place) if parts.fused.iter().any(|(_, fused)| fused == place) => return false,
                _ => work.extend(free_vars(stmt)),
            }
        }
        true
    }

    /// Removes and returns the cotangents so far that a fused statement cannot read, because they depend on
    /// its results.
    pub(super) fn detach(&mut self, at: usize, parts: &Parts) -> Vec<(Var, Var)> {
        let mut free: Vec<Var> = free_vars(&parts.slots[at].stmt).into_iter().collect();
        free.sort_unstable();
        let mut detached = Vec::new();
        for var in free {
            if let Some(cotangent) = self.top().cotangents.get(&var).copied()
                && !self.is_fusable(at, parts, &[cotangent])
            {
                self.top().cotangents.remove(&var);
                detached.push((var, cotangent));
                // In a branch, the removed cotangent contains that of the enclosing region, which must not be
                // counted twice.
                if self.current(var).is_some() {
                    let zeros = self.zeros(var);
                    self.set(var, zeros);
                }
            }
        }
        detached
    }

    /// Adds the removed cotangents again.
    pub(super) fn attach(&mut self, detached: Vec<(Var, Var)>) {
        for (var, cotangent) in detached {
            self.contribute(var, &[], cotangent);
        }
    }

    /// Replaces a statement of the forward sweep by a fused one, which becomes the next statement of the
    /// reverse sweep.
    pub(super) fn fuse(&mut self, at: usize, parts: &mut Parts, results: Vec<Var>, kind: Kind) {
        parts.slots[at].is_fused = true;
        parts.fused.push((at, parts.reverse.len() + self.builder.out.len()));
        self.builder.push(results, kind);
    }
}
