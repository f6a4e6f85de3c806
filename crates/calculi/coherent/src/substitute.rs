//! Substitution and renaming of variables, on terms that share their parts.
//!
//! Both walk over a term with a work list and rebuild the parts that contain the variables; other parts are
//! kept, and a shared part is rebuilt once.

use rustc_hash::FxHashMap;

use crate::syntax::{Term, TermId, Terms};

/// `M[N/x]`, where x is the variable of index 0 in M, and the other free variables of M move down by one.
pub fn instantiate(terms: &mut Terms, m: TermId, n: TermId) -> TermId {
    map_variables(terms, m, &mut |terms, index, under| {
        if index == under { lift(terms, n, under) } else { terms.add(Term::Var(index - 1)) }
    })
}

/// The term under `by` more binders: its free variables move up.
pub fn lift(terms: &mut Terms, m: TermId, by: u32) -> TermId {
    if by == 0 || terms.scope(m) == 0 {
        return m;
    }
    map_variables(terms, m, &mut |terms, index, _| terms.add(Term::Var(index + by)))
}

/// Replaces each free variable. The function gets the variable's index where it occurs, and the number of
/// binders of M around it.
fn map_variables(
    terms: &mut Terms,
    m: TermId,
    replace: &mut impl FnMut(&mut Terms, u32, u32) -> TermId,
) -> TermId {
    rebuild(terms, m, 0, &mut |terms, id, under| {
        if terms.scope(id) <= under {
            return Some(id);
        }
        match terms.get(id) {
            Term::Var(index) => Some(replace(terms, index, under)),
            _ => None,
        }
    })
}

/// Rebuilds a term from its leaves up, each part once per number of enclosing binders. If `shortcut` returns
/// a result for a part, that replaces it; otherwise the part keeps its form.
fn rebuild(
    terms: &mut Terms,
    root: TermId,
    under: u32,
    shortcut: &mut impl FnMut(&mut Terms, TermId, u32) -> Option<TermId>,
) -> TermId {
    let mut done: FxHashMap<(TermId, u32), TermId> = FxHashMap::default();
    let mut work = vec![(root, under)];
    while let Some((id, under)) = work.last().copied() {
        if done.contains_key(&(id, under)) {
            work.pop();
            continue;
        }
        if let Some(result) = shortcut(terms, id, under) {
            done.insert((id, under), result);
            continue;
        }
        let term = terms.get(id);
        let before = work.len();
        work.extend(
            term.parts()
                .map(|(part, binders)| (part, under + binders))
                .filter(|place| !done.contains_key(place)),
        );
        if work.len() == before {
            let parts = term.parts().map(|(part, binders)| done[&(part, under + binders)]);
            let rebuilt = term.with_parts(parts);
            let result = terms.add_like(rebuilt, id);
            done.insert((id, under), result);
        }
    }
    done[&(root, under)]
}
