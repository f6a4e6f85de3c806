//! Whether the body of a Λ can be evaluated in more than one way.
//!
//! Only a table with several entries makes a run branch in `.sysf`. So a body has choices exactly if such a
//! table can be reached from its environment: through the free variables, and through the closures in them.
//! Closures may be cyclic.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::mixed::{Cell, EnvId, Mixed};
use super::search::Machine;
use crate::names::Name;
use crate::syntax::TermId;

impl Machine<'_> {
    /// Whether a table with two entries or more can be reached from the free variables of a term.
    pub(super) fn reaches_choices(&mut self, term: TermId, env: EnvId) -> bool {
        // All tables come from the goal.
        if !self.goal_has_choices {
            return false;
        }
        let (mut work, mut seen) = (vec![(term, env)], FxHashSet::default());
        while let Some((term, env)) = work.pop() {
            if !seen.insert((term, env)) {
                continue;
            }
            let names = self.free_variables(term);
            let mut found: Vec<&Mixed> = names.iter().map(|name| self.arena.lookup(*name, env).1).collect();
            while let Some(value) = found.pop() {
                match value {
                    Mixed::Int(_) | Mixed::Address(_) => {}
                    Mixed::Finite(value) => {
                        if self.values.has_choices(*value) {
                            return true;
                        }
                    }
                    Mixed::Closure(term, env) | Mixed::Delayed(term, env) => work.push((*term, *env)),
                    Mixed::Thunk(cell) | Mixed::Pair(cell) => match self.arena.cell(*cell) {
                        Cell::Content(content) => found.push(content),
                        Cell::Pair(first, second) => found.extend([first, second]),
                        Cell::Binding(..) => unreachable!("the cell of a thunk or a pair is not a binding"),
                    },
                }
            }
        }
        false
    }

    fn free_variables(&mut self, term: TermId) -> Rc<[Name]> {
        let terms = self.terms;
        Rc::clone(self.free.entry(term).or_insert_with(|| terms.free_variables(term).into()))
    }
}
