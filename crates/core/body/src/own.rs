//! Inserts a copy of each tensor that is changed in place while it is still live or owned elsewhere.
//!
//! After this pass the rule of [`verify`](mod@crate::verify) about `update`, `increase` and accumulators
//! holds, so passes that write bodies need not ensure it.

use rustc_hash::FxHashSet;

use eddy_tensor::Op;

use crate::edit::Names;
use crate::ir::{Body, Control, Kind, Module, Region, Stmt, Var};
use crate::operation::Operation;
use crate::uses::free_vars;

/// Inserts copies into all bodies.
pub fn own(module: &mut Module) {
    for body in &mut module.bodies {
        own_body(body);
    }
}

/// Inserts copies into a body.
pub fn own_body(body: &mut Body) {
    let mut names = Names::new(std::mem::take(&mut body.names));
    let live = body.region.yields.iter().copied().collect();
    let mut owner = Owner { names: &mut names, scalars: FxHashSet::default() };
    owner.region(&mut body.region, live, FxHashSet::default());
    body.names = names.finish();
}

struct Owner<'a> {
    names: &'a mut Names,
    /// Scalar constants, which are never changed in place.
    scalars: FxHashSet<Var>,
}

impl Owner<'_> {
    /// Inserts copies into a region. `live` are the names that are read after it, `owned` the names from
    /// outside that may be changed in it.
    fn region(&mut self, region: &mut Region, mut live: FxHashSet<Var>, mut owned: FxHashSet<Var>) {
        for stmt in &region.stmts {
            match &stmt.kind {
                Kind::Const(literal) if literal.ty().rank == 0 => self.scalars.extend(&stmt.results),
                Kind::Const(_) => {}
                _ => owned.extend(stmt.results.iter().copied()),
            }
        }
        let stmts = std::mem::take(&mut region.stmts);
        let mut reversed = Vec::with_capacity(stmts.len());
        for mut stmt in stmts.into_iter().rev() {
            let mut copies = Vec::new();
            self.stmt(&mut stmt, &live, &owned, &mut copies);
            live.extend(free_vars(&stmt));
            reversed.push(stmt);
            for copy in copies {
                live.extend(copy.kind.operands());
                reversed.push(copy);
            }
        }
        reversed.reverse();
        region.stmts = reversed;
    }

    fn stmt(
        &mut self,
        stmt: &mut Stmt,
        live: &FxHashSet<Var>,
        owned: &FxHashSet<Var>,
        copies: &mut Vec<Stmt>,
    ) {
        let span = stmt.span;
        let scalars = self.scalars.clone();
        let mut take = |names: &mut Names, var: &mut Var, is_free: bool| {
            if !(scalars.contains(var) || is_free && owned.contains(var) && !live.contains(var)) {
                let copy = names.fresh_like(*var);
                let kind = Kind::Op(Operation::Table(Op::Copy), vec![*var]);
                copies.push(Stmt { results: vec![copy], kind, span });
                *var = copy;
            }
        };
        match &mut stmt.kind {
            Kind::Update(array, at, value) | Kind::Increase(array, at, value) => {
                let is_read = *value == *array || at.iter().flat_map(|at| at.vars()).any(|var| var == *array);
                take(self.names, array, !is_read);
            }
            Kind::If(_, yes, no) => {
                for region in [yes, no] {
                    let live = live.iter().chain(&region.yields).copied().collect();
                    self.region(region, live, owned.clone());
                }
            }
            Kind::Loop(repeat) => {
                let mut inside = FxHashSet::default();
                for region in [&repeat.body].into_iter().chain(match &repeat.control {
                    Control::While(condition) => Some(condition),
                    _ => None,
                }) {
                    inside.extend(region.stmts.iter().flat_map(free_vars));
                    inside.extend(region.yields.iter().copied());
                }
                inside.extend(repeat.collect.iter().copied());
                let inits: Vec<Var> =
                    repeat.states.iter().chain(&repeat.accs).map(|binding| binding.init).collect();
                for acc in &mut repeat.accs {
                    let is_once = inits.iter().filter(|init| **init == acc.init).count() == 1;
                    let is_free = is_once && !inside.contains(&acc.init);
                    take(self.names, &mut acc.init, is_free);
                }
                let states: FxHashSet<Var> = repeat.states.iter().map(|state| state.var).collect();
                if let Control::While(condition) = &mut repeat.control {
                    let live = condition.yields.iter().chain(&states).copied().collect();
                    self.region(condition, live, FxHashSet::default());
                }
                let live = repeat.body.yields.iter().chain(&repeat.collect).copied().collect();
                self.region(&mut repeat.body, live, states);
            }
            Kind::Const(_)
            | Kind::Op(..)
            | Kind::Index(..)
            | Kind::Add(..)
            | Kind::Call(..)
            | Kind::Unpack(..) => {}
        }
    }
}
