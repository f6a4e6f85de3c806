//! Literals: tuples of numerals, and covectors made of them.
//!
//! `0` at a Euclidean type is a literal too. A literal is handled as the list of its leaves from left to
//! right.

use crate::syntax::{Path, Term, TermId, Terms};
use crate::types::Type;

/// The leaves of a literal of Euclidean type.
pub fn vector(terms: &Terms, id: TermId) -> Option<Vec<f64>> {
    let mut leaves = Vec::new();
    let mut work = vec![id];
    while let Some(id) = work.pop() {
        match terms.term(id) {
            Term::Real(value) => leaves.push(value),
            Term::Zero if terms.types.is_euclidean(terms.ty(id)) => {
                leaves.resize(leaves.len() + n_leaves(terms, terms.ty(id)), 0.0);
            }
            Term::Pair(left, right) => work.extend([right, left]),
            _ => return None,
        }
    }
    Some(leaves)
}

/// The leaves of a literal covector: `r^*` or `0`.
pub fn covector(terms: &Terms, id: TermId) -> Option<Vec<f64>> {
    match terms.term(id) {
        Term::Flat(of) => vector(terms, of),
        Term::Zero if terms.types.is_covector(terms.ty(id)) => {
            Some(vec![0.0; n_leaves(terms, terms.types.predual(terms.ty(id)))])
        }
        _ => None,
    }
}

/// Whether a term is `0`, or a tuple of zeros.
pub fn is_zero(terms: &Terms, id: TermId) -> bool {
    let mut work = vec![id];
    while let Some(id) = work.pop() {
        match terms.term(id) {
            Term::Zero | Term::Real(0.0) => {}
            Term::Pair(left, right) => work.extend([left, right]),
            _ => return false,
        }
    }
    true
}

/// Whether a term is a literal vector or covector.
pub fn is_literal(terms: &Terms, id: TermId) -> bool {
    let mut work = vec![match terms.term(id) {
        Term::Flat(of) => of,
        _ => id,
    }];
    while let Some(id) = work.pop() {
        match terms.term(id) {
            Term::Real(_) => {}
            Term::Zero => {}
            Term::Pair(left, right) => work.extend([right, left]),
            _ => return false,
        }
    }
    true
}

/// The literal of this type with these leaves.
pub fn make(terms: &mut Terms, ty: Type, leaves: &[f64]) -> TermId {
    let leaves: Vec<TermId> = leaves.iter().map(|leaf| terms.real(*leaf)).collect();
    terms.tuple(ty, leaves)
}

/// The covector on this type with these leaves.
pub fn make_covector(terms: &mut Terms, of: Type, leaves: &[f64]) -> TermId {
    let vector = make(terms, of, leaves);
    terms.flat(vector)
}

/// How many leaves a Euclidean type has.
pub fn n_leaves(terms: &Terms, ty: Type) -> usize {
    usize::try_from(terms.types.components(ty)).unwrap_or(usize::MAX)
}

/// Which leaves of a vector of type `ty` a chain of projections selects.
pub fn selected(terms: &Terms, mut ty: Type, path: Path) -> std::ops::Range<usize> {
    for _ in 0..path.lefts {
        ty = terms.types.factors(ty).expect("only pairs are projected").0;
    }
    match (path.right, terms.types.factors(ty)) {
        (true, Some((left, right))) => {
            let start = n_leaves(terms, left);
            start..start + n_leaves(terms, right)
        }
        _ => 0..n_leaves(terms, ty),
    }
}
