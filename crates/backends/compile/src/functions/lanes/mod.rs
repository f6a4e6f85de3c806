//! Iterations of an `each` side by side, in the lanes of vectors.
//!
//! ```text
//! s = each i < n acc (t = z) { y = for j < m (a = x0) { .. }  v = index y [i]  add t [] v }
//!
//! for (; n - done > ..; done += W) {          W iterations at once: a name whose value depends on i is a
//!   for (j..) { eddy_v a_0 .., a_1 .. }       vector for each eight of them, any other name is a scalar
//!   t = eddy_add_lanes(t, ..);                accumulators take one lane after the other
//! }
//! for (i = done; i < n; i++) { .. }           the rest, and blocks with an iteration that fails
//! ```
//!
//! Each lane computes what its iteration computes, in the same order, so that all bits stay. Additions to an
//! accumulator are in the order of iterations; a loop where this is not evident stays as it is.
//!
//! A tensor that depends on `i` has the lanes of each element side by side. In the last block, lanes beyond
//! the count repeat the last iteration, and their effects are omitted. If a check fails in some lane, the
//! block is abandoned and runs again one iteration after the other, which finds the first failure.
//!
//! * [`analysis`]: what depends on the index, and the order of additions.
//! * [`statements`]: operations. [`places`]: elements of tensors. [`regions`]: inner loops and choices.

mod analysis;
mod places;
mod regions;
mod statements;
mod values;

use eddy_body::{Control, Loop, Stmt, Var};
use rustc_hash::FxHashMap;

use super::body::{Emitter, Tensor};
use super::facts::Interval;
use analysis::{Additions, Analysis};

/// The lanes of a vector.
const VECTOR: usize = 8;

/// The number of bytes of local arrays in a block of iterations.
const LOCAL: i64 = 1 << 15;

/// A value that depends on the index.
#[derive(Clone, Debug)]
enum Lane {
    /// The vectors of a scalar: this name with `_0`, `_1`, ..
    Scalar(String),
    /// A tensor; the lanes of an element are side by side.
    Tensor(Tensor),
    /// A tensor in lanes that only one branch of a choice has; it is read only where that branch is taken.
    Guarded(Tensor, Var, usize),
}

/// Places of failures go to the scalar loop, which repeats the block.
pub(super) struct Lanes<'e, 'a, 'm> {
    e: &'e mut Emitter<'a, 'm>,
    values: FxHashMap<Var, Lane>,
    analysis: Analysis,
    /// The number of vectors of a scalar, and of lanes.
    n_vectors: usize,
    width: usize,
    /// The index of the loop, the C name of the first iteration of a block, and that of the number of
    /// iterations in it.
    index: Var,
    first: String,
    live: String,
    /// The iterations that execute the current statements, by the name of a mask.
    mask: Option<String>,
    /// The choices around the current statements, and their branches.
    taken: Vec<(Var, usize)>,
    /// Rows at the index that are read in inner loops, by lanes.
    rows: FxHashMap<Var, Tensor>,
    /// Memory for what inner loops add to consecutive elements of accumulators.
    buffers: FxHashMap<Var, String>,
    /// Additions that wait for the end of the block: their text for one lane.
    waiting: Vec<String>,
    local: i64,
}

impl Emitter<'_, '_> {
    /// The text of the blocks of iterations of a loop whose rows have these names and sizes, and the name of
    /// the first iteration that remains. `None` if the loop stays as it is.
    pub fn lanes(&mut self, repeat: &Loop, rows: &[(String, Vec<String>)]) -> Option<(String, String)> {
        let Control::Each { index, count } = repeat.control else { return None };
        if self.shared.is_metered() || self.bail.is_some() || self.facts.interval(count).hi < VECTOR as i128 {
            return None;
        }
        let analysis = Analysis::new(repeat, index)?;
        let reads_lazy =
            |stmt: &Stmt| eddy_body::uses::free_vars(stmt).iter().any(|var| self.lazy.contains_key(var));
        if repeat.body.stmts.iter().any(reads_lazy) {
            return None;
        }
        let n_vectors = analysis.n_vectors;
        let width = VECTOR * n_vectors;
        let (facts, at, reprs) = (self.facts.clone(), self.at.clone(), self.reprs.clone());
        let (n_fails, uses_low, uses_high) = (self.n_fails, self.uses_low, self.uses_high);
        let (arrays, budget) = (self.arrays.len(), self.budget);
        let done = self.names.of("done");
        let bail = self.names.of("one_by_one");
        let live = self.names.of("live");
        let bailed = self.bail.replace(bail.clone());
        self.uses_low = false;
        self.text.depth += 1;
        let count = self.scalar(count);
        let (text, fits) = self.aside(|emitter| {
            let mut lanes = Lanes {
                e: emitter,
                values: FxHashMap::default(),
                analysis,
                n_vectors,
                width,
                index,
                first: done.clone(),
                live: live.clone(),
                mask: None,
                taken: Vec::new(),
                rows: FxHashMap::default(),
                buffers: FxHashMap::default(),
                waiting: Vec::new(),
                local: LOCAL,
            };
            lanes.block(repeat, &count, rows)
        });
        self.text.depth -= 1;
        self.bail = bailed;
        let needs_low = self.uses_low;
        self.facts = facts;
        self.at = at;
        self.reprs = reprs;
        if fits.is_none() {
            (self.n_fails, self.uses_low, self.uses_high) = (n_fails, uses_low, uses_high);
            self.arrays.truncate(arrays);
            self.budget = budget;
            return None;
        }
        self.uses_low = uses_low || needs_low;
        self.shared.uses_lanes = true;
        let (all, ()) = self.aside(|emitter| {
            emitter.line(&format!("int64_t {done} = 0;"));
            let low = emitter.names.of("low");
            if needs_low {
                emitter.line(&format!("const size_t {low} = a->low;"));
            }
            let least = width / 4;
            emitter.text.open(&format!("for (; {count} - {done} > {least}; {done} += {width})"));
            emitter.line(&format!(
                "const int64_t {live} = {count} - {done} < {width} ? {count} - {done} : {width};"
            ));
            emitter.text.lines.push_str(&text);
            if needs_low {
                emitter.line(&format!("a->low = {low};"));
            }
            emitter.text.close();
            if text.contains(&format!("goto {bail};")) {
                emitter.line(&format!("{bail}: ;"));
            }
            if needs_low {
                emitter.line(&format!("a->low = {low};"));
            }
        });
        Some((all, done))
    }
}

impl Lanes<'_, '_, '_> {
    /// The statements of a block.
    fn block(&mut self, repeat: &Loop, count: &str, rows: &[(String, Vec<String>)]) -> Option<()> {
        let name = self.e.name(self.index);
        for u in 0..self.n_vectors {
            let start = format!("{} + {}", self.first, VECTOR * u);
            let all = format!("EDDY_IOTA + EDDY_ALLW({start})");
            let last = format!("EDDY_ALLW({count} - 1)");
            self.e.line(&format!(
                "const eddy_w {name}_{u} = EDDY_BLENDW((eddy_w)({all} < {last}), {all}, {last});"
            ));
        }
        self.values.insert(self.index, Lane::Scalar(name));
        let (Control::Each { count: bound, .. } | Control::For { count: bound, .. }) = repeat.control else {
            return None;
        };
        let hi = self.e.facts.interval(bound).hi;
        self.e.facts.set_interval(self.index, Interval { lo: 0, hi: (hi - 1).max(0) });
        self.e.facts.set_below(self.index, count);
        self.hoist_rows(repeat)?;
        self.region(&repeat.body)?;
        for (var, (name, sizes)) in repeat.collect.iter().zip(rows) {
            self.store_row(*var, name, sizes)?;
        }
        let waiting = std::mem::take(&mut self.waiting);
        if !waiting.is_empty() {
            self.e.text.open(&format!("for (int64_t lane = 0; lane < {}; lane++)", self.live));
            for line in waiting {
                self.e.line(&line);
            }
            self.e.text.close();
        }
        Some(())
    }

    fn region(&mut self, region: &eddy_body::Region) -> Option<()> {
        for stmt in &region.stmts {
            self.e.at_stmt(stmt);
            self.stmt(stmt)?;
        }
        Some(())
    }

    fn is_varying(&self, var: Var) -> bool {
        self.values.contains_key(&var)
    }

    /// Whether an accumulator belongs to the loop or to something around it.
    fn is_outer(&self, acc: Var) -> bool {
        !self.is_varying(acc)
    }

    fn additions(&self, acc: Var) -> Option<Additions> {
        self.analysis.additions.get(&acc).copied()
    }

    /// A statement that does not depend on the index is executed once for all lanes.
    fn uniform(&mut self, stmt: &Stmt) -> Option<()> {
        let reads_lanes = |var: &Var| self.is_varying(*var);
        if eddy_body::uses::free_vars(stmt).iter().any(reads_lanes) {
            return None;
        }
        if !analysis::is_plain(stmt) {
            return None;
        }
        let region = eddy_body::Region { stmts: vec![stmt.clone()], yields: Vec::new() };
        self.e.region(&region);
        Some(())
    }
}
