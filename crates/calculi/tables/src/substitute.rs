//! `e[v/x]`: substitution of a closed value, without capture.

use rustc_hash::FxHashMap;

use crate::names::Name;
use crate::syntax::{Term, TermId, Terms};

/// `e[v/x]`, where `v` is closed. Unchanged parts are shared.
pub fn substitute(terms: &mut Terms, e: TermId, x: Name, v: TermId) -> TermId {
    let mut done: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut work = vec![e];
    while let Some(&id) = work.last() {
        if done.contains_key(&id) {
            work.pop();
            continue;
        }
        let term = terms.term(id);
        // Below a binder of x, x is another variable.
        let parts: Vec<TermId> = if term.binder() == Some(x) { Vec::new() } else { term.parts().collect() };
        let before = work.len();
        work.extend(parts.iter().copied().filter(|part| !done.contains_key(part)));
        if work.len() > before {
            continue;
        }
        work.pop();
        let changed = if *term == Term::Variable(x) {
            v
        } else if parts.iter().all(|part| done[part] == *part) {
            id
        } else {
            let (term, span) = (rebuild(term, |part| done[&part]), terms.span(id));
            terms.push(term, span)
        };
        done.insert(id, changed);
    }
    done[&e]
}

/// A term of the same form with other parts.
pub fn rebuild(term: &Term, mut part: impl FnMut(TermId) -> TermId) -> Term {
    match *term {
        Term::Int(_) | Term::Variable(_) | Term::Address(_) => term.clone(),
        Term::Lambda(name, e) => Term::Lambda(name, part(e)),
        Term::Fix(name, e) => Term::Fix(name, part(e)),
        Term::TypeLambda(e) => Term::TypeLambda(part(e)),
        Term::TypeApply(e) => Term::TypeApply(part(e)),
        Term::Prefix(prefix, e) => Term::Prefix(prefix, part(e)),
        Term::Apply(a, b, written) => Term::Apply(part(a), part(b), written),
        Term::Op(op, a, b) => Term::Op(op, part(a), part(b)),
        Term::Pair(a, b) => Term::Pair(part(a), part(b)),
        Term::Assign(a, b) => Term::Assign(part(a), part(b)),
        Term::If(a, b, c) => Term::If(part(a), part(b), part(c)),
    }
}
