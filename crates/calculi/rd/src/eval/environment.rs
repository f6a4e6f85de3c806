//! Environments: `ρ` from ordinary variables to closed values, `φ` from function variables to closures.

use rustc_hash::FxHashMap;

use super::context::Layer;
use crate::syntax::{FnId, TermId, VarId};
use crate::value::Value;

/// A value during evaluation: its closed form, and in symbolic evaluation the open value for the trace.
#[derive(Clone, Debug)]
pub struct Operand {
    /// `ρ(V)`.
    pub closed: Value,
    /// `V`, in symbolic evaluation.
    pub open: Option<TermId>,
}

/// `ρ` and `φ` of one activation: of the program, or of one call of a function. Binders are unique and a
/// function sees only its parameters, so entries of `ρ` are never overwritten or read by another activation.
#[derive(Debug, Default)]
pub struct Activation {
    /// `ρ`.
    pub rho: FxHashMap<VarId, Operand>,
    /// `φ`.
    pub phi: Option<Phi>,
}

eddy_index::id! {
    /// A function environment `φ[clo/f]`: a link in [`Closures`].
    pub struct Phi, "the memory limit ends a run before 2^32 closures";
}

/// A closure `clo_φ'(f(x:T):U. M)`; `φ'` is `φ` before `f` was added.
#[derive(Clone, Copy, Debug)]
struct Closure {
    function: FnId,
    /// `n` of `clo_{n,φ'}` for limited recursion.
    limit: Option<u32>,
    outer: Option<Phi>,
}

/// All function environments of a run; they share their tails.
#[derive(Debug, Default)]
pub struct Closures {
    links: Vec<Closure>,
}

impl Layer<Operand> {
    /// The redex that this operand completes, for `--rules`.
    pub fn redex(&self, operand: &Value) -> String {
        match self {
            Layer::AddRight(left) => format!("{} + {operand}", left.closed),
            Layer::Op(op) => format!("{} {operand}", op.name()),
            _ => operand.to_string(),
        }
    }
}

/// A call of a function with an exhausted limit.
#[derive(Clone, Copy, Debug)]
pub struct LimitReached;

impl Closures {
    /// `φ[clo_{n,φ}(f…)/f]`.
    pub fn define(&mut self, phi: Option<Phi>, function: FnId, limit: Option<u32>) -> Phi {
        self.links.push(Closure { function, limit, outer: phi });
        Phi::new(self.links.len() - 1)
    }

    /// The environment in which the body of `φ(f)` runs: `φ'[clo_φ'/f]`, or `φ'[clo_{n,φ'}/f]` when
    /// `φ(f) = clo_{n+1,φ'}`; a closure with limit 0 cannot be called.
    pub fn call(&mut self, phi: Option<Phi>, function: FnId) -> Result<Phi, LimitReached> {
        let mut at = phi;
        loop {
            let link = at.expect("a checked program calls functions in scope");
            let closure = self.links[link.index()];
            if closure.function != function {
                at = closure.outer;
                continue;
            }
            return match closure.limit {
                None => Ok(link),
                Some(0) => Err(LimitReached),
                Some(n) => Ok(self.define(closure.outer, function, Some(n - 1))),
            };
        }
    }

    pub fn bytes(&self) -> usize {
        self.links.len() * size_of::<Closure>()
    }
}
