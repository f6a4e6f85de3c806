//! Linear contexts and linear reduction (section 5.1).
//!
//! A linear context of height 1 is a form with a hole in its linear part: `\x.[]`, `[] N`, `if^d([],P,Q)`,
//! `let^d(x,[],P)`, and every operator with one term except `fix`. These parts are not linear: the argument
//! of an application, the body of `fix`, the branches of `if` and the body of `let`.

use crate::syntax::{Term, TermId, Terms};

/// The term in the hole of a linear context of height 1, always the first part; `None` for other forms.
pub fn hole(term: Term) -> Option<TermId> {
    match term {
        Term::Lambda(_, m)
        | Term::Apply(m, _)
        | Term::Op(_, _, m)
        | Term::If(_, m, _, _)
        | Term::Let(_, m, _)
        | Term::Derive(m)
        | Term::Tick(m) => Some(m),
        Term::Var(_) | Term::Fix(_) | Term::Num(_) | Term::Coin(_) | Term::Zero(_) | Term::Sum(..) => None,
    }
}

/// `L[N]`, where the term is `L[M]` for some M.
pub fn plug(terms: &mut Terms, context: TermId, n: TermId) -> TermId {
    let term = terms.get(context);
    let others: Vec<TermId> = term.parts().skip(1).map(|(part, _)| part).collect();
    let plugged = term.with_parts(std::iter::once(n).chain(others));
    terms.add_like(plugged, context)
}

/// N0 and N1, if the terms are `L[N0]` and `L[N1]` for one context L.
pub fn common_context(terms: &Terms, m0: TermId, m1: TermId) -> Option<(TermId, TermId)> {
    let (first, second) = (terms.get(m0), terms.get(m1));
    let (n0, n1) = (hole(first)?, hole(second)?);
    // The contexts are equal if filling the second one with N0 gives the first term.
    let others = second.parts().skip(1).map(|(part, _)| part);
    let refilled = second.with_parts(std::iter::once(n0).chain(others.collect::<Vec<_>>()));
    (refilled == first).then_some((n0, n1))
}

/// `L[0] → 0` and `L[M+N] → L[M] + L[N]`, at the root.
///
/// Reducing a zero does not need its type; the new zero gets the type that `ty` returns.
pub fn reduce(
    terms: &mut Terms,
    m: TermId,
    ty: impl FnOnce(&mut Terms, TermId) -> crate::types::Type,
) -> Option<TermId> {
    let inside = hole(terms.get(m))?;
    match terms.get(inside) {
        Term::Zero(_) => {
            let ty = ty(terms, m);
            Some(terms.add(Term::Zero(ty)))
        }
        Term::Sum(n0, n1) => {
            let (first, second) = (plug(terms, m, n0), plug(terms, m, n1));
            Some(terms.add(Term::Sum(first, second)))
        }
        _ => None,
    }
}
