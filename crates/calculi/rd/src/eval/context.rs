//! Evaluation contexts and redexes (section 6; Lemma 3.1).
//!
//! ```text
//! E  ::= [] | E + N | V + E | op(E) | let x:T = E in N | ⟨E,N⟩ | ⟨V,E⟩ | fst(E) | snd(E)
//!      | if Eb then M else N | f(E) | M.rd_E(x:T.N) | E.rd_V(x:T.N)         Eb ::= [] | pred(E)
//! R  ::= V + W | op(V) | let x:T = V in N | fst(V) | snd(V) | if b then M else N
//!      | letrec f(x:T):U = M in N | f(V) | W.rd_V(x:T.N)                    Rb ::= pred(V)
//! ```
//!
//! A context is the list of the layers around its hole, outermost first. [`decompose`] finds the unique way
//! to write a term as `E[R]`, and [`plug`] undoes it. The evaluator keeps the same layers on its stack, with
//! closed values in the place of `V`, and so never searches for its redex from the top.

use crate::operation::{Op, Pred};
use crate::syntax::{FnId, Term, TermId, Terms, Test, VarId};

/// One layer of an evaluation context; `V` is a term here, an operand in the evaluator.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer<V> {
    /// `E + N`.
    AddLeft(TermId),
    /// `V + E`.
    AddRight(V),
    /// `op(E)`.
    Op(Op),
    /// `let x:T = E in N`.
    Let(VarId, TermId),
    /// `⟨E,N⟩`.
    PairLeft(TermId),
    /// `⟨V,E⟩`.
    PairRight(V),
    /// `fst(E)`.
    Fst,
    /// `snd(E)`.
    Snd,
    /// `if pred(E) then M else N`.
    IfPred(Pred, TermId, TermId),
    /// `f(E)`.
    Call(FnId),
    /// `M.rd_E(x:T.N)`: the point is evaluated first.
    RdPoint {
        /// `M`.
        cotangent: TermId,
        /// `x`.
        var: VarId,
        /// `N`.
        body: TermId,
    },
    /// `E.rd_V(x:T.N)`: the cotangent is evaluated after the point.
    RdCotangent {
        /// `V`.
        point: V,
        /// `x`.
        var: VarId,
        /// `N`.
        body: TermId,
    },
}

/// The contents of the hole of a decomposed term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hole {
    /// This term is a redex `R`.
    Redex(TermId),
    /// A boolean redex `pred(V)` is the condition of this conditional.
    BooleanRedex(TermId),
}

/// Whether a term is a value `V ::= x | r | * | ⟨V,W⟩`.
pub fn is_value(terms: &Terms, term: TermId) -> bool {
    let mut todo = vec![term];
    while let Some(id) = todo.pop() {
        match terms.term(id) {
            Term::Var(_) | Term::Real(_) | Term::Unit => {}
            Term::Pair(left, right) => todo.extend([left, right]),
            _ => return false,
        }
    }
    true
}

/// The unique decomposition of a term as `E[R]` or `E[Rb]`; `None` for values.
///
/// Checks the operands of each layer again, which is simple but takes quadratic time. The evaluator avoids
/// this.
pub fn decompose(terms: &Terms, term: TermId) -> Option<(Vec<Layer<TermId>>, Hole)> {
    if is_value(terms, term) {
        return None;
    }
    let mut layers = Vec::new();
    let mut focus = term;
    loop {
        let open = |operand: TermId| !is_value(terms, operand);
        let (layer, inner) = match terms.term(focus) {
            Term::Add(left, right) if open(left) => (Layer::AddLeft(right), left),
            Term::Add(left, right) if open(right) => (Layer::AddRight(left), right),
            Term::Op(op, operand) if open(operand) => (Layer::Op(op), operand),
            Term::Let { var, bound, body } if open(bound) => (Layer::Let(var, body), bound),
            Term::Pair(left, right) if open(left) => (Layer::PairLeft(right), left),
            Term::Pair(left, right) if open(right) => (Layer::PairRight(left), right),
            Term::Fst(pair) if open(pair) => (Layer::Fst, pair),
            Term::Snd(pair) if open(pair) => (Layer::Snd, pair),
            Term::If { test: Test::Pred(pred, operand), yes, no } => {
                if !open(operand) {
                    return Some((layers, Hole::BooleanRedex(focus)));
                }
                (Layer::IfPred(pred, yes, no), operand)
            }
            Term::Call { function, argument } if open(argument) => (Layer::Call(function), argument),
            Term::Rd { cotangent, point, var, body } if open(point) => {
                (Layer::RdPoint { cotangent, var, body }, point)
            }
            Term::Rd { cotangent, point, var, body } if open(cotangent) => {
                (Layer::RdCotangent { point, var, body }, cotangent)
            }
            _ => return Some((layers, Hole::Redex(focus))),
        };
        layers.push(layer);
        focus = inner;
    }
}

/// `E[M]`.
pub fn plug(terms: &mut Terms, layers: &[Layer<TermId>], term: TermId) -> TermId {
    layers.iter().rev().fold(term, |inner, layer| {
        let term = match *layer {
            Layer::AddLeft(right) => Term::Add(inner, right),
            Layer::AddRight(left) => Term::Add(left, inner),
            Layer::Op(op) => Term::Op(op, inner),
            Layer::Let(var, body) => Term::Let { var, bound: inner, body },
            Layer::PairLeft(right) => Term::Pair(inner, right),
            Layer::PairRight(left) => Term::Pair(left, inner),
            Layer::Fst => Term::Fst(inner),
            Layer::Snd => Term::Snd(inner),
            Layer::IfPred(pred, yes, no) => Term::If { test: Test::Pred(pred, inner), yes, no },
            Layer::Call(function) => Term::Call { function, argument: inner },
            Layer::RdPoint { cotangent, var, body } => Term::Rd { cotangent, point: inner, var, body },
            Layer::RdCotangent { point, var, body } => Term::Rd { cotangent: inner, point, var, body },
        };
        terms.push(term)
    })
}
