//! Expansions of abbreviations (section 2). Bound names of an expansion are fresh: here they are indices.

use crate::syntax::{Bit, Op, Term, TermId, Terms};
use crate::types::Type;

/// `deriv M = pi1 (D M)`.
pub fn deriv(terms: &mut Terms, m: TermId) -> TermId {
    let pair = terms.add(Term::Derive(m));
    terms.op(Op::Pi(Bit::One), 0, pair)
}

/// `<M> N = (pi1 (D M)) (inj1 N)`.
pub fn linear(terms: &mut Terms, m: TermId, n: TermId) -> TermId {
    let function = deriv(terms, m);
    let argument = terms.op(Op::Inj(Bit::One), 0, n);
    terms.add(Term::Apply(function, argument))
}

/// `omega[A] = fix \x:A. x`.
pub fn omega(terms: &mut Terms, ty: Type) -> TermId {
    let x = terms.add(Term::Var(0));
    let identity = terms.add(Term::Lambda(ty, x));
    terms.add(Term::Fix(identity))
}

/// `<M0,M1>^T = \x:nat. let y = x in if T y then inj0 (M0 y) else inj1 (M1 y)`; the three parts are already
/// under x and y.
pub fn switch(terms: &mut Terms, m0: TermId, m1: TermId, test: TermId) -> TermId {
    let y = terms.add(Term::Var(0));
    let condition = terms.add(Term::Apply(test, y));
    let [yes, no] = [(m0, Bit::Zero), (m1, Bit::One)].map(|(m, bit)| {
        let applied = terms.add(Term::Apply(m, y));
        terms.op(Op::Inj(bit), 0, applied)
    });
    let body = terms.add(Term::If(0, condition, yes, no));
    let [x_name, y_name] = ["x", "y"].map(|name| terms.names.intern(name));
    let bound = terms.add_binder(Term::Let(0, y, body), y_name);
    terms.add_binder(Term::Lambda(Type::NAT, bound), x_name)
}
