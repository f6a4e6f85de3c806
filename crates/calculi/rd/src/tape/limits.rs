//! Limited recursion (section 9) as hidden parameters.
//!
//! Calling `clo_{n+1}` runs the body with `f ↦ clo_n`; the limits are part of the function environment `φ`,
//! which is lexical. Functions are closed, so `φ` can be passed instead: each function gets, before its own
//! arguments, the remaining limit of each limited function that its body can reach and does not define
//! itself. Programs without limits pass none.

use std::collections::BTreeSet;

use crate::syntax::{FnId, Program, Term, TermId, Terms};

/// For each function, the limited functions whose remaining limits it receives, in order.
#[derive(Default)]
pub struct HiddenLimits {
    needed: Vec<BTreeSet<FnId>>,
}

impl HiddenLimits {
    /// The limited functions whose remaining limits a function receives.
    pub fn of(&self, function: FnId) -> impl Iterator<Item = FnId> {
        self.needed.get(function.index()).into_iter().flatten().copied()
    }

    /// Computes the needs of each function: the limited functions that it calls and the needs of its callees,
    /// except for the functions that are defined inside it.
    pub fn find(program: &Program) -> HiddenLimits {
        let terms = &program.terms;
        let n = terms.n_functions();
        let mut needed = vec![BTreeSet::new(); n];
        let mut uses: Vec<(Vec<FnId>, Vec<FnId>)> = vec![Default::default(); n];
        let mut main = Default::default();
        let mut pending = definitions(terms, program.main, &mut main);
        while let Some(function) = pending.pop() {
            let inner = definitions(terms, terms.body(function), &mut uses[function.index()]);
            pending.extend(inner);
        }
        let has_limits = (0..n).any(|i| uses_limit(terms, &uses[i])) || uses_limit(terms, &main);
        let mut changed = has_limits;
        while changed {
            changed = false;
            for (i, (calls, defined)) in uses.iter().enumerate() {
                let mut reached: BTreeSet<FnId> =
                    calls.iter().filter(|f| is_limited(terms, **f)).copied().collect();
                for callee in calls {
                    reached.extend(&needed[callee.index()]);
                }
                // A function reaches everything that its inner functions reach.
                for inner in defined {
                    reached.extend(&needed[inner.index()]);
                }
                for inner in defined {
                    reached.remove(inner);
                }
                if reached.len() > needed[i].len() {
                    needed[i] = reached;
                    changed = true;
                }
            }
        }
        HiddenLimits { needed }
    }
}

fn is_limited(terms: &Terms, function: FnId) -> bool {
    terms.function(function).limit.is_some()
}

fn uses_limit(terms: &Terms, (calls, _): &(Vec<FnId>, Vec<FnId>)) -> bool {
    calls.iter().any(|function| is_limited(terms, *function))
}

/// The functions that a term defines; appends its callees and its definitions to `uses`.
fn definitions(terms: &Terms, term: TermId, uses: &mut (Vec<FnId>, Vec<FnId>)) -> Vec<FnId> {
    let mut todo = vec![term];
    while let Some(id) = todo.pop() {
        match terms.term(id) {
            Term::Letrec { function, .. } => uses.1.push(function),
            Term::Call { function, .. } => uses.0.push(function),
            _ => {}
        }
        terms.push_children(id, &mut todo);
    }
    uses.0.sort_unstable();
    uses.0.dedup();
    uses.1.clone()
}
