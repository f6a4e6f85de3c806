//! Which values a reverse sweep computes again, and which ones the forward sweep keeps for it.

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

/// Where kept values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// In rows of a loop: only scalars and values whose sizes are known to be the same in each iteration.
    Rows,
    /// Behind an `if`: anything.
    Results,
}

impl Writer<'_> {
    /// Both sweeps as code that runs behind the forward sweep, without effects of the forward part. The
    /// values that are returned beside it are not computed in it: it reads them.
    pub(super) fn rerun(&mut self, parts: &Parts, yields: &[Var], keep: Keep) -> (Vec<Stmt>, Vec<Var>) {
        let mut forward: Vec<Stmt> = parts.forward();
        let own = foreign_accs(self.deriver, &forward);
        let mut stmts = parts.joint(&self.builder.types);
        strip(self.deriver, &mut stmts, &own);
        // What can fail did not fail before.
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
        // A second look: reverse statements do not become dead by this, but loops inside may.
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
                // A reduction of something that would have to be computed again.
                let is_reduction = is_scalar && operands.iter().any(|var| self.builder.ty(*var).rank > 0);
                !is_cheap || is_reduction || keep == Keep::Results && !is_scalar
            }
            Kind::Op(Operation::Size(_), operands) => forward.contains(&operands[0]),
            Kind::Op(Operation::ReverseIndex, _) => false,
            // An element of a tensor from outside can be read again; one of a state would need the whole
            // state.
            Kind::Index(array, _) => keep == Keep::Results || !self.is_outside(*array),
            // Changed tensors are large, and cheap to change again.
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

    /// New names for all that statements define; `to` may hold some already.
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
