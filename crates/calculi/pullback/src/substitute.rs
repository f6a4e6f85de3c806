//! Substitution on locally nameless terms: opening and closing of binders.
//!
//! [`Terms::instantiate`] replaces bound variables by terms without loose indices, [`Terms::abstract_over`]
//! turns free variables into bound ones. Neither can capture a variable. Parts without replacements are
//! shared, not copied, and a shared part is replaced once. Both use an explicit stack.

use rustc_hash::FxHashMap;

use crate::syntax::{Term, TermId, Terms, VarId};

/// The replacement of variables.
enum Replacement<'a> {
    /// Terms for bound variables; index 0 gets the last one.
    Bound(&'a [TermId]),
    /// Free variables that become bound; the last one becomes index 0.
    Free(&'a FxHashMap<VarId, u32>, u32),
}

impl Terms {
    /// The body of binders with their variables replaced; the last argument is for the innermost binder.
    pub fn instantiate(&mut self, body: TermId, arguments: &[TermId]) -> TermId {
        self.replace(body, &Replacement::Bound(arguments))
    }

    /// The body of new binders for these free variables; the last one is the innermost.
    pub fn abstract_over(&mut self, body: TermId, vars: &[VarId]) -> TermId {
        let n = u32::try_from(vars.len()).expect("fewer variables than terms");
        let levels: FxHashMap<VarId, u32> = vars.iter().copied().zip(0..n).collect();
        self.close(body, &levels, n)
    }

    /// Like [`Terms::abstract_over`], for a body under the first `depth` of several nested binders. `levels`
    /// maps each variable to its binder; the outermost binder has level 0.
    pub fn close(&mut self, body: TermId, levels: &FxHashMap<VarId, u32>, depth: u32) -> TermId {
        self.replace(body, &Replacement::Free(levels, depth))
    }

    fn replace(&mut self, body: TermId, replacement: &Replacement<'_>) -> TermId {
        let mut memo: FxHashMap<(TermId, u32), TermId> = FxHashMap::default();
        let mut work = vec![(body, 0, false)];
        while let Some((id, inner, is_ready)) = work.pop() {
            if memo.contains_key(&(id, inner)) || self.is_untouched(id, inner, replacement) {
                continue;
            }
            let term = self.term(id);
            if let Some(new) = self.replace_leaf(id, term, inner, replacement) {
                memo.insert((id, inner), new);
                continue;
            }
            if !is_ready {
                work.push((id, inner, true));
                work.extend(term.children().map(|(child, depth)| (child, inner + depth, false)));
                continue;
            }
            let mut children = term.children();
            let new = term.with_children(|| {
                let (child, depth) = children.next().expect("as many parts as before");
                memo.get(&(child, inner + depth)).copied().unwrap_or(child)
            });
            // A chain of projections stays one node.
            let new = match new {
                Term::Project(path, of) => self.project(path, of),
                new => self.push(new, self.ty(id)),
            };
            memo.insert((id, inner), new);
        }
        memo.get(&(body, 0)).copied().unwrap_or(body)
    }

    fn is_untouched(&self, id: TermId, inner: u32, replacement: &Replacement<'_>) -> bool {
        match replacement {
            Replacement::Bound(_) => self.loose(id) <= inner,
            Replacement::Free(..) => !self.is_open(id),
        }
    }

    fn replace_leaf(
        &mut self,
        id: TermId,
        term: Term,
        inner: u32,
        replacement: &Replacement<'_>,
    ) -> Option<TermId> {
        match (replacement, term) {
            (Replacement::Bound(arguments), Term::Bound(index)) => {
                let from_end = (index - inner) as usize + 1;
                Some(arguments[arguments.len() - from_end])
            }
            (Replacement::Free(levels, depth), Term::Free(var)) => Some(match levels.get(&var) {
                Some(level) => self.bound(depth + inner - level - 1, self.ty(id)),
                None => id,
            }),
            _ => None,
        }
    }
}
