//! Decides which values a reverse sweep computes again, and which ones the forward sweep keeps for it.

use rustc_hash::FxHashSet;

use eddy_tensor::Cost;

use super::super::sizes::Size;
use super::super::strip::{foreign_accs, strip};
use super::Writer;
use super::fusion::Parts;
use crate::clean::{Pruner, number_definitions};
use crate::edit::{Renaming, renamed_stmt, renamed_vars};
use crate::ir::{Kind, Region, Stmt, Type, Var};
use crate::operation::Operation;
use crate::uses::free_vars;

/// Where the forward sweep keeps values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// In rows of a loop: only values whose sizes are known to be the same in each iteration, such as
    /// scalars.
    Rows,
    /// In further results of an `if`: all values.
    Results,
}

impl Writer<'_> {
    /// Both sweeps as code that runs after the forward sweep, without the effects of the forward part; and
    /// the values of the forward sweep that this code reads instead of computing them again.
    pub(super) fn rerun(&mut self, parts: &Parts, yields: &[Var], keep: Keep) -> (Vec<Stmt>, Vec<Var>) {
        let mut forward: Vec<Stmt> = parts.forward();
        let own = foreign_accs(self.deriver, &forward);
        let mut stmts = parts.joint(&self.builder.types);
        strip(self.deriver, &mut stmts, &own);
        // Checks of the forward part passed when it ran first.
        stmts.retain(|stmt| !(stmt.results.is_empty() && matches!(stmt.kind, Kind::Op(..))));
        let live: FxHashSet<Var> = yields.iter().copied().collect();
        Pruner { module: &self.deriver.module, keep: &|_| false }.prune(&mut stmts, live.clone());
        let fused = parts.slots.iter().filter(|slot| slot.is_fused).flat_map(|slot| slot.stmt.results.iter());
        let fused: FxHashSet<Var> = fused.copied().collect();
        forward.retain(|stmt| !stmt.results.iter().any(|var| fused.contains(var)));
        let first: FxHashSet<Var> = forward.iter().flat_map(|stmt| stmt.results.iter().copied()).collect();
        self.keep(stmts, &first, live, keep)
    }

    fn keep(
        &self,
        stmts: Vec<Stmt>,
        forward: &FxHashSet<Var>,
        mut live: FxHashSet<Var>,
        keep: Keep,
    ) -> (Vec<Stmt>, Vec<Var>) {
        let (mut left, mut kept) = (Vec::new(), Vec::new());
        for stmt in stmts.into_iter().rev() {
            let read: Vec<Var> = stmt.results.iter().copied().filter(|var| live.contains(var)).collect();
            let is_forward = stmt.results.iter().any(|var| forward.contains(var));
            if is_forward && read.is_empty() {
                continue;
            }
            if is_forward && self.is_kept(&stmt, &read, forward, keep) {
                kept.extend(read);
                continue;
            }
            live.extend(free_vars(&stmt));
            left.push(stmt);
        }
        left.reverse();
        // No reverse statement becomes dead here, but parts of loops inside may.
        Pruner { module: &self.deriver.module, keep: &|_| false }.prune(&mut left, live);
        kept.reverse();
        (left, kept)
    }

    fn is_kept(&self, stmt: &Stmt, read: &[Var], forward: &FxHashSet<Var>, keep: Keep) -> bool {
        let types: Vec<Type> = read.iter().map(|var| self.builder.ty(*var)).collect();
        if keep == Keep::Rows && !read.iter().all(|var| self.has_fixed_sizes(*var)) {
            return false;
        }
        let is_scalar = types.iter().all(|ty| ty.rank == 0);
        match &stmt.kind {
            Kind::Const(_) => false,
            Kind::Op(Operation::Table(op), operands) => {
                let is_cheap = matches!(op.facts().cost, Cost::Free | Cost::Arithmetic | Cost::Memory);
                // Without it, the reduced tensor would be computed again.
                let is_reduction = is_scalar && operands.iter().any(|var| self.builder.ty(*var).rank > 0);
                !is_cheap || is_reduction || keep == Keep::Results && !is_scalar
            }
            Kind::Op(Operation::Size(_), operands) => forward.contains(&operands[0]),
            Kind::Op(Operation::ReverseIndex, _) => false,
            // An element of a tensor from outside can be read again; for an element of a state, the whole
            // state would be kept.
            Kind::Index(array, _) => keep == Keep::Results || !self.is_outside(*array),
            // A changed tensor is large, and changing it again is cheap.
            Kind::Update(..) | Kind::Increase(..) => keep == Keep::Results || is_scalar,
            _ => true,
        }
    }

    /// Whether a value has the same sizes in all iterations of the loop of the current region.
    fn has_fixed_sizes(&self, var: Var) -> bool {
        let rank = self.builder.ty(var).rank;
        (0..rank).all(|axis| match self.sizes.axis(var, axis) {
            Size::Axis(of, _) | Size::Int(of) => of.index() < self.n_source && self.is_outside(of),
        })
    }

    /// Whether a name is defined outside of the current region.
    fn is_outside(&self, var: Var) -> bool {
        self.frames.last().is_some_and(|frame| !frame.has(var))
    }

    /// Renames all names that a region defines; `to` may contain some of the new names already.
    pub(super) fn renew(&mut self, region: Region, to: &mut Renaming) -> Region {
        let mut defined = Vec::new();
        number_definitions(&region, &mut |var| defined.push(var));
        for var in defined {
            to.entry(var).or_insert_with(|| self.builder.fresh_like(var));
        }
        Region {
            stmts: region.stmts.iter().map(|stmt| renamed_stmt(stmt, to)).collect(),
            yields: renamed_vars(&region.yields, to),
        }
    }
}
