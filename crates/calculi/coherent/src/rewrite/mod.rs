//! The rewriting system (section 5). Only the laws use it; no command runs it.
//!
//! * [`linear`]: linear contexts, and reduction of sums and zeros.
//! * [`rules`]: the main rules and the rules of projection.
//!
//! [`steps`] finds everything that a term can become in one step. Reduction is allowed anywhere except inside
//! a sum; a sum may only be opened at the top, where it becomes two terms of a multiset.

pub mod linear;
pub mod rules;

use crate::syntax::{Term, TermId, Terms};
use crate::typing::{Checker, Scope};

/// A step of rewriting: its rule and its result.
#[derive(Clone, Copy, Debug)]
pub struct Rewriting {
    pub rule: &'static str,
    /// The whole term after the step.
    pub term: TermId,
}

/// All single steps of a well-typed closed term.
pub fn steps(terms: &mut Terms, m: TermId) -> Vec<Rewriting> {
    steps_at(terms, m, Places::All)
}

/// The steps at the root, and in the holes of nested linear contexts from the root; the machines reduce
/// there.
pub fn head_steps(terms: &mut Terms, m: TermId) -> Vec<Rewriting> {
    steps_at(terms, m, Places::Linear)
}

/// The places where a term is reduced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Places {
    All,
    Linear,
}

fn steps_at(terms: &mut Terms, m: TermId, places: Places) -> Vec<Rewriting> {
    let mut checker = Checker::default();
    let mut found = Vec::new();
    // A place: the path to it (each form and the index of the part), the term there, and its scope.
    let mut work = vec![(Vec::new(), m, Scope::EMPTY)];
    while let Some((way, id, scope)) = work.pop() {
        let term = terms.get(id);
        if matches!(term, Term::Sum(..)) {
            continue;
        }
        let ty = checker.type_of(terms, id, scope).expect("the parts of a well-typed term are well typed");
        let step = rules::reduce(terms, id, ty)
            .or_else(|| linear::reduce(terms, id, |_, _| ty).map(|result| ("lin", result)));
        if let Some((rule, result)) = step {
            found.push(Rewriting { rule, term: rebuild(terms, &way, result) });
        }
        let n_parts = match places {
            Places::All => usize::MAX,
            // The hole is the first part.
            Places::Linear => usize::from(linear::hole(term).is_some()),
        };
        for (index, (part, under)) in term.parts().enumerate().take(n_parts) {
            let inner = match (term, under) {
                (Term::Lambda(ty, _), _) => checker.bind(scope, ty),
                (_, 0) => scope,
                _ => checker.bind(scope, crate::types::Type::NAT),
            };
            let mut deeper = way.clone();
            deeper.push((id, index));
            work.push((deeper, part, inner));
        }
    }
    found
}

/// The whole term after a part was replaced.
fn rebuild(terms: &mut Terms, way: &[(TermId, usize)], part: TermId) -> TermId {
    way.iter().rev().fold(part, |inside, (form, place)| {
        let term = terms.get(*form);
        let parts: Vec<TermId> = term
            .parts()
            .enumerate()
            .map(|(index, (old, _))| if index == *place { inside } else { old })
            .collect();
        let rebuilt = term.with_parts(parts.into_iter());
        terms.add_like(rebuilt, *form)
    })
}
